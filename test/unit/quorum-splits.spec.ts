import { describe, expect, it } from '@jest/globals';
import { ForeignLockError } from '../../lib/engine/errors/index.js';
import { QuorumLock } from '../../lib/engine/locks/quorum/quorum-lock.js';
import type { QuorumNode, Vote } from '../../lib/engine/locks/quorum/quorum-node.js';
import { systemClock, NATIVE } from '../../lib/engine/options/index.js';
import { KEPT } from '../../lib/engine/protocol/constants.js';

const now = Date.now() * 1_000;
const HELD: Vote = { kind: 'held', now, detail: 0 };
const busy = (detail: string): Vote => ({ kind: 'busy', now, detail });
const SPLIT = [HELD, busy('a/1'), busy('b/2')];

/** Three nodes that answer one attempt after another in this way; the last way from then on. */
function threeNodes(
  attempts: readonly (readonly (Vote | Promise<Vote>)[])[],
  commandTimeout = 60_000,
) {
  const asked = [0, 0, 0];
  const nodes = asked.map((_, at) => ({
    acquire: async () => attempts[Math.min(asked[at]!++, attempts.length - 1)]![at],
    takeBack: async () => true,
  }));
  const lock = new QuorumLock(nodes as unknown as QuorumNode[], commandTimeout, systemClock);
  return { lock, asked };
}

const request = { key: 'k', holder: 'c/3', ttl: 30_000, tokenBlock: 0, format: NATIVE };

describe('who asks three servers once', () => {
  it('asks again while the votes are split, and gets the lock', async () => {
    const { lock, asked } = threeNodes([SPLIT, SPLIT, [HELD, HELD, HELD]]);
    expect(await lock.acquire(request)).toMatchObject({ kind: 'held' });
    expect(asked).toEqual([3, 3, 3]);
  });

  it.each([
    ['has another', 'a/1'],
    ['keeps the lock for nobody', KEPT],
  ])('is told so at once where a majority %s', async (_whom, vote) => {
    const { lock, asked } = threeNodes([[HELD, busy(vote), busy(vote)]]);
    expect(await lock.acquire(request)).toEqual({ kind: 'busy' });
    expect(asked).toEqual([1, 1, 1]);
  });

  it('waits for the third where two name two others', async () => {
    let answer!: (vote: Vote) => void;
    const last = new Promise<Vote>((resolve) => (answer = resolve));
    const { lock, asked } = threeNodes([[busy('a/1'), busy('b/2'), last]]);
    const answered = lock.acquire(request);
    await new Promise((resolve) => setImmediate(resolve));
    answer(busy('a/1'));
    expect(await answered).toEqual({ kind: 'busy' });
    expect(asked).toEqual([1, 1, 1]);
  });

  it('is told that it is busy where the votes stay split', async () => {
    const { lock } = threeNodes([SPLIT], 50);
    expect(await lock.acquire(request)).toEqual({ kind: 'busy' });
  });

  it('asks no more once the caller has given up', async () => {
    const { lock, asked } = threeNodes([SPLIT]);
    expect(await lock.acquire({ ...request, wanted: () => false })).toEqual({ kind: 'busy' });
    expect(asked).toEqual([1, 1, 1]);
  });
});

it('who queues does not wait for a third that cannot change anything, and has its turn later', async () => {
  const { lock, asked } = threeNodes([[busy('a/1'), busy('b/2'), new Promise<Vote>(() => {})]]);
  expect(await lock.acquire({ ...request, queue: true })).toMatchObject({ kind: 'queued' });
  expect(asked).toEqual([1, 1, 1]);
});

describe('a value of another type', () => {
  const foreign: Vote = { kind: 'foreign', now, detail: 'list' };

  it('on one of three servers leaves the others to vote', async () => {
    const { lock } = threeNodes([
      [foreign, HELD, busy('a/1')],
      [foreign, HELD, HELD],
    ]);
    expect(await lock.acquire({ ...request, queue: true })).toMatchObject({ kind: 'queued' });
    expect(await lock.acquire({ ...request, queue: true })).toMatchObject({ kind: 'held' });
  });

  it('on one of three is no reason to call a lock foreign that a majority holds', async () => {
    const { lock } = threeNodes([[foreign, busy('a/1'), busy('a/1')]]);
    expect(await lock.acquire(request)).toEqual({ kind: 'busy' });
  });

  it.each([true, false])('on two of three leaves no majority (queueing: %s)', async (queue) => {
    const { lock } = threeNodes([[HELD, foreign, foreign]]);
    await expect(lock.acquire({ ...request, queue })).rejects.toThrow(ForeignLockError);
  });
});
