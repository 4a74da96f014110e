import { beforeAll, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';

/** The most frames of lib that a way may have; they go down, never up. `npm run acquire-path` prints the frames. */
const CEILINGS = { locked: 12, acquire: 11, release: 8, pushed: 5 };

let ways: Record<keyof typeof CEILINGS, readonly string[]>;

beforeAll(() => {
  const run = ['tools/acquire-path.mjs', '--json'];
  ways = JSON.parse(execFileSync(process.execPath, run, { encoding: 'utf8' }));
}, 120_000);

it.each([
  ['locked', 'a decorated method', 'decorators/', 'redis/'],
  ['acquire', 'LockService.acquire()', 'services/', 'redis/'],
  ['release', 'lease.release()', '/', 'redis/'],
] as const)('%s: %s reaches the socket in few frames', (way, _, first, last) => {
  expect(ways[way].at(0)).toContain(first);
  expect(ways[way].at(-1)).toContain(last);
  expect(ways[way].length).toBeLessThanOrEqual(CEILINGS[way]);
});

it('pushed: a grant reaches the caller who waits for it in few frames', () => {
  expect(ways.pushed.at(0)).toContain('redis/');
  expect(ways.pushed.length).toBeLessThanOrEqual(CEILINGS.pushed);
});
