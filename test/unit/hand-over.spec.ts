import { expect, it } from '@jest/globals';
import { readHandOver } from '../../lib/engine/client/hand-over.js';
import { isFenced } from '../../lib/engine/locks/holder.js';

it.each([
  [7, true],
  [null, false],
])('the holder id of a lease with token %j that was handed over says so: %s', (token, fenced) => {
  const fields = ['secret', 'host.1.0123456789a', 'k', 1_000, token, true, 0, null, null];
  const text = Buffer.from(JSON.stringify(fields)).toString('base64url');
  expect(isFenced(readHandOver(text).request.holder)).toBe(fenced);
});
