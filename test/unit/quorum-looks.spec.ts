import { describe, expect, it } from '@jest/globals';
import { LockStoreError } from '../../lib/engine/errors/index.js';
import type { Snapshot } from '../../lib/engine/locks/lock-store.js';
import { QuorumLock } from '../../lib/engine/locks/quorum/quorum-lock.js';
import type { QuorumNode } from '../../lib/engine/locks/quorum/quorum-node.js';
import { systemClock, NATIVE } from '../../lib/engine/options/index.js';
import { ManualClock } from '../../lib/memory/testing/index.js';

const HELD = { type: 'string', holder: 'a/1', remaining: 900 };
const FREE = { type: 'none', holder: '', remaining: -2 };

/** Three nodes of which two answer at once, the third when it is told to. */
function threeNodes<Reply>(early: readonly [Reply, Reply], late: Reply) {
  let answer = (): void => {};
  const last = new Promise<Reply>((resolve) => (answer = () => resolve(late)));
  const replies = [...early.map((reply) => Promise.resolve(reply)), last];
  const nodes = replies.map((reply) => ({ inspect: () => reply, force: () => reply }));
  const lock = new QuorumLock(nodes as unknown as QuorumNode[], 60_000, systemClock);
  return { lock, answer };
}

/** Everything that is on its way without a timer has come. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('a quorum of three', () => {
  it('says of each lease in a renewal whether it stands, is gone, or is not known', async () => {
    const silent = new LockStoreError('It is away.', { outcome: 'unknown', retryable: true });
    const [first, second] = [
      [900, 900, -2],
      [900, -3, -2],
    ];
    const replies = [Promise.resolve(first), Promise.resolve(second), Promise.reject(silent)];
    const nodes = replies.map((reply) => ({ extend: () => reply, revote: async () => true }));
    const lock = new QuorumLock(nodes as unknown as QuorumNode[], 60_000, systemClock);
    const requests = ['stands', 'one denied', 'gone'].map((key) => {
      return { key, holder: key, ttl: 30_000, tokenBlock: 0, format: NATIVE };
    });
    const { remaining } = await lock.extend(requests);
    expect(remaining).toEqual([900, 'unknown', 'free']);
  });

  it('looks at the third where two disagree', async () => {
    const { lock, answer } = threeNodes<Partial<Snapshot>>([HELD, FREE], HELD);
    const snapshot = lock.inspect('k');
    await turn();
    answer();
    expect(await snapshot).toMatchObject({ holder: 'a/1', type: 'string' });
  });

  it('does not wait for the third where two agree', async () => {
    const { lock, answer } = threeNodes<Partial<Snapshot>>([FREE, FREE], HELD);
    expect(await lock.inspect('k')).toMatchObject({ holder: '', type: 'none' });
    answer();
  });

  it('says no token that a minority has minted for another', async () => {
    const own = { ...HELD, firstToken: 7, fencingToken: 9 };
    const others = { ...HELD, firstToken: 12, fencingToken: 12 };
    const { lock, answer } = threeNodes<Partial<Snapshot>>([others, own], own);
    const snapshot = lock.inspect('k');
    await turn();
    answer();
    expect(await snapshot).toMatchObject({ holder: 'a/1', firstToken: 7, fencingToken: 12 });
  });

  it('forces what the third and one of two had', async () => {
    const { lock, answer } = threeNodes(['none', 'string'], 'string');
    const forced = lock.force('k');
    await turn();
    answer();
    expect(await forced).toBe(true);
  });

  it('says no token where no node knows of one, and leaves no timer', async () => {
    const clock = new ManualClock();
    const nodes = [FREE, FREE, FREE].map((look) => ({ inspect: async () => look }));
    const lock = new QuorumLock(nodes as unknown as QuorumNode[], 60_000, clock);
    expect((await lock.inspect('k')).fencingToken).toBeUndefined();
    expect(clock.pending).toBe(0);
  });

  it.each(['inspect', 'force'] as const)(
    'has the time of a command to answer: %s',
    async (look) => {
      const clock = new ManualClock();
      const answers: ((reply: unknown) => void)[] = [];
      const reply = (): Promise<unknown> => new Promise((resolve) => answers.push(resolve));
      const nodes = [0, 1, 2].map(() => ({ inspect: reply, force: reply }));
      const lock = new QuorumLock(nodes as unknown as QuorumNode[], 2_000, clock);
      const late = lock[look]('k');
      await clock.advance(1_999);
      for (const answer of answers.splice(0)) answer(look === 'force' ? 'string' : HELD);
      await expect(late).resolves.toBeTruthy();
      const never = lock[look]('k').catch((error: unknown) => error);
      await clock.advance(2_000);
      expect(await never).toMatchObject({ name: 'QuorumNotReachedError', key: 'k' });
    },
  );

  it('says how many did not answer, where a majority did not', async () => {
    const silent = (): Promise<never> => Promise.reject(new LockStoreError('It is away.'));
    const nodes = [silent, async () => HELD, silent].map((look) => ({
      inspect: look,
      force: look,
    }));
    const lock = new QuorumLock(nodes as unknown as QuorumNode[], 60_000, systemClock);
    const votes = { nodes: 3, granted: 0, denied: 1, failed: 2 };
    await expect(lock.inspect('k')).rejects.toMatchObject({ key: 'k', votes });
    await expect(lock.force('k')).rejects.toMatchObject({ key: 'k', votes });
  });

  it.each([
    [['another', 'string', 'string'], true],
    [['another', 'another', 'string'], 'another'],
    [['another', 'none', 'string'], false],
    [['another', 'none', 'none'], false],
  ] as const)('forces who was seen, where the nodes say %j: %p', async (types, outcome) => {
    const named: (string | undefined)[] = [];
    const nodes = types.map((type) => ({
      force: async (_key: string, seen?: string) => (named.push(seen), type),
    }));
    const lock = new QuorumLock(nodes as unknown as QuorumNode[], 60_000, systemClock);
    expect(await lock.force('k', undefined, 'a/1')).toBe(outcome);
    expect(named).toEqual(['a/1', 'a/1', 'a/1']);
  });

  it('forces nothing where a minority had it alone', async () => {
    const { lock, answer } = threeNodes(['none', 'string'], 'none');
    const forced = lock.force('k');
    await turn();
    answer();
    expect(await forced).toBe(false);
  });

  it.each([
    [['string', 'list', 'string'], true],
    [['none', 'list', 'none'], false],
    [['list', 'list', 'string'], 'ForeignLockError'],
  ] as const)('forces %j: %p, and tells who waits here to ask', async (types, outcome) => {
    const nodes = types.map((type) => ({ force: async () => type }));
    const told: string[] = [];
    class Listened extends QuorumLock {
      protected override listener = { kept: (key: string) => told.push(key) } as never;
    }
    const lock = new Listened(nodes as unknown as QuorumNode[], 60_000, systemClock);
    expect(await lock.force('k').catch(({ name }: Error) => name)).toBe(outcome);
    expect(told).toEqual(['k']);
  });
});
