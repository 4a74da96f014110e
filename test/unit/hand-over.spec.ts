import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { LockKeyError } from '../../lib/engine/errors/index.js';
import { readHandOver } from '../../lib/engine/client/leases/hand-over.js';
import { isFenced } from '../../lib/engine/locks/holder.js';
import { NATIVE } from '../../lib/engine/options/index.js';

it.each([
  [7, true],
  [null, false],
])('the holder id of a lease with token %j that was handed over says so: %s', (token, fenced) => {
  const fields = ['secret', 'host.1.0123456789a', 'k', 1_000, token, true, 0, null, null];
  const text = Buffer.from(JSON.stringify(fields)).toString('base64url');
  expect(isFenced(readHandOver(text)[0].request.holder)).toBe(fenced);
});

describe('a text of the version before labels', () => {
  const fields = ['secret', 'host.1.0123456789a', 'k', 1_000, 7, true, 5, 60_000, 'seat'];
  const text = Buffer.from(JSON.stringify(fields)).toString('base64url');

  it('is read, and names the holder as that version did', () => {
    const hash = createHash('sha256').update(text).digest('base64url').slice(0, 22);
    const [{ request, call, fencingToken }, ...others] = readHandOver(text);
    expect(request).toEqual({
      key: 'k',
      holder: `host.1.0123456789a/${hash}h`,
      ttl: 1_000,
      tokenBlock: 1,
      format: NATIVE,
    });
    expect(call).toMatchObject({ minHold: 5, maxHold: 60_000, name: 'seat', label: undefined });
    expect([fencingToken, others]).toEqual([7, []]);
  });
});

it('a text of an older version may have a rest of no time for its ttl, and asks for no lease so short', () => {
  const fields = [2, 'secret', ['host.1.0123456789a', 'k', 0, 7, false, 0, null, null, null]];
  const text = Buffer.from(JSON.stringify(fields)).toString('base64url');
  const [{ request, call }] = readHandOver(text);
  expect([request.ttl, call.ttl]).toEqual([50, 50]);
});

it.each([
  [[3, 'secret', ['host.1.0123456789a', 'k', 1_000, 7, true, 0, null, null, null]]],
  [[2, 'secret']],
  [[2, 'secret', ['host.1.0123456789a', 'k', 1_000, 7, true, 0, null, null]]],
  [[2, 'secret', ['host.1.0123456789a', 'k', 1_000, 7, true, 0, null, null, 'a\nb']]],
  [[2, 'secret', ['a host', 'k', 1_000, 7, true, 0, null, null, null]]],
])('a text of another version, or with other fields, is refused: %j', (fields) => {
  const text = Buffer.from(JSON.stringify(fields)).toString('base64url');
  expect(() => readHandOver(text)).toThrow(LockKeyError);
});
