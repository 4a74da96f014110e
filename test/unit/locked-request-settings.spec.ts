import { expect, it } from '@jest/globals';
import type { ExecutionContext } from '@nestjs/common';
import { LockedRequestSettings } from '../../lib/interceptors/locked-request-settings.js';

it.each([
  ['account:<args.id>', 'account:7'],
  ['tenant:<user.tenant>', 'tenant:8'],
])('of a GraphQL request, %s is %s', (template, key) => {
  const handed = [{ id: 'parent' }, { id: '7' }, { req: { user: { tenant: 8 } } }];
  const context = { getType: () => 'graphql', getArgByIndex: (at: number) => handed[at] };
  const { keyOf } = new LockedRequestSettings(template, {});
  expect(keyOf(context as unknown as ExecutionContext)).toBe(key);
});
