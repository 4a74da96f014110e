import { expect, it, jest } from '@jest/globals';
import { randomBytes, type randomFillSync } from 'node:crypto';

/** What the generator of every clone goes on with: a snapshot has its state, too. */
const SNAPSHOT = randomBytes(4_096);
const drawn = jest.fn((size: number) => SNAPSHOT.subarray(0, size));
const filled = jest.fn((buffer: Buffer) => {
  SNAPSHOT.copy(buffer);
  return buffer;
});
jest.unstable_mockModule('node:crypto', () => ({
  randomBytes: drawn,
  randomFillSync: filled as unknown as typeof randomFillSync,
}));

/** The module as it goes on in a clone. */
async function clone(): Promise<typeof import('../../lib/engine/locks/holder.js')> {
  jest.resetModules();
  return import('../../lib/engine/locks/holder.js');
}

it('two clones of one memory snapshot never hold a lock under the same id', async () => {
  const [one, other] = [await clone(), await clone()];
  const processId = one.newProcessId();
  const ids = Array.from({ length: 600 }, () => [
    one.newHolderId(processId),
    other.newHolderId(processId),
  ]).flat();
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.every((id) => one.isFenced(id))).toBe(true);
});
