import { expect, it } from '@jest/globals';
import type { ExecutionContext } from '@nestjs/common';
import { LockOptionsError } from '../../lib/engine/errors/index.js';
import { LockedRequestSettings } from '../../lib/nest/interceptors/locked-request-settings.js';

it.each([
  ['account:<args.id>', 'account:7'],
  ['tenant:<user.tenant>', 'tenant:8'],
])('of a GraphQL request, %s is %s', (template, key) => {
  const handed = [{ id: 'parent' }, { id: '7' }, { req: { user: { tenant: 8 } } }];
  const context = { getType: () => 'graphql', getArgByIndex: (at: number) => handed[at] };
  const { keyOf } = new LockedRequestSettings(template, {});
  expect(keyOf(context as unknown as ExecutionContext)).toBe(key);
});

it.each([undefined, null, 5, {}, ['a', 5]])('a key that is %p is refused by a sentence', (key) => {
  const settings = (): unknown => new LockedRequestSettings(key as never, {});
  expect(settings).toThrow(LockOptionsError);
  expect(settings).toThrow('The key of @LockedRequest is neither a text nor a function.');
});
