import { beforeAll, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';

/** The most frames of lib that a way may have; they go down, never up. `npm run acquire-path` prints the frames. */
const CEILINGS = { locked: 12, acquire: 11, release: 8, pushed: 5 };

/** The most promises that a call may make from its begin to its end, the body's among them; they go down, never up. */
const PROMISES = { locked: 12, withLock: 10, acquire: 7 };

let ways: Record<keyof typeof CEILINGS, readonly string[]>;
let promises: Record<keyof typeof PROMISES, number>;

beforeAll(() => {
  const run = ['tools/acquire-path.mjs', '--json'];
  ({ ways, promises } = JSON.parse(execFileSync(process.execPath, run, { encoding: 'utf8' })));
}, 300_000);

it.each([
  ['locked', 'a decorated method', 'nest/decorators/', 'engine/redis/'],
  ['acquire', 'LockService.acquire()', 'nest/services/', 'engine/redis/'],
  ['release', 'lease.release()', '/', 'engine/redis/'],
] as const)('%s: %s reaches the socket in few frames', (way, _, first, last) => {
  expect(ways[way].at(0)).toContain(first);
  expect(ways[way].at(-1)).toContain(last);
  expect(ways[way].length).toBeLessThanOrEqual(CEILINGS[way]);
});

it('pushed: a grant reaches the caller who waits for it in few frames', () => {
  expect(ways.pushed.at(0)).toContain('engine/redis/');
  expect(ways.pushed.length).toBeLessThanOrEqual(CEILINGS.pushed);
});

it.each([
  ['locked', 'a decorated method'],
  ['withLock', 'withLock()'],
  ['acquire', 'acquire() with release()'],
] as const)('%s: %s makes few promises', (call, _) => {
  expect(promises[call]).toBeLessThanOrEqual(PROMISES[call]);
});
