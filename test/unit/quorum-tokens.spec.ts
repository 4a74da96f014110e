import { describe, expect, it } from '@jest/globals';
import { NATIVE } from '../../lib/engine/options/index.js';
import { LockStoreError, QuorumNotReachedError } from '../../lib/engine/errors/index.js';
import { AcquireRound, TokenProposal } from '../../lib/engine/locks/quorum/acquire-round.js';
import { QuorumLock } from '../../lib/engine/locks/quorum/quorum-lock.js';
import type { QuorumNode, Vote } from '../../lib/engine/locks/quorum/quorum-node.js';
import type { Clock } from '../../lib/engine/options/index.js';
import { ManualClock } from '../../lib/memory/testing/index.js';

const PROPOSED = 1_700_000_000_000_000;
const SECOND = 1_000_000;

/** A vote with this first token, by a node whose clock is so many µs ahead of the proposal. */
const held = (ahead = 0, detail = PROPOSED): Vote => ({
  kind: 'held',
  now: PROPOSED + ahead,
  detail,
});
const busy = (ahead = 0): Vote => ({ kind: 'busy', now: PROPOSED + ahead, detail: 'another/1' });
const silent = (): LockStoreError => new LockStoreError('no answer', { outcome: 'unknown' });

describe('the first token of a grant', () => {
  it('is the proposed one where a majority gives that, and no clock is more than a second ahead', async () => {
    const { outcome, settled } = await attempt([held(SECOND), busy(SECOND), held()]);
    expect(outcome).toMatchObject({ kind: 'held', fencingToken: PROPOSED, tokens: 10 });
    expect(settled).toEqual([]);
  });

  it.each([
    ['voted', [held(SECOND + 1), held(), busy()]],
    ['denied', [busy(SECOND + 1), held(), held()]],
  ])('is the time of a node that %s and is further ahead', async (_what, votes) => {
    const { outcome, settled } = await attempt(votes);
    const token = PROPOSED + SECOND + 1;
    expect(outcome).toMatchObject({ kind: 'held', fencingToken: token });
    expect(settled).toEqual([token + 9, token + 9, token + 9]);
  });

  it('is the greatest that a node gave, where no majority gave the proposed one', async () => {
    const { outcome, settled } = await attempt([held(), held(0, PROPOSED + 7), busy()]);
    expect(outcome).toMatchObject({ fencingToken: PROPOSED + 7, tokens: 10 });
    expect(settled[0]).toBe(PROPOSED + 16);
  });

  it('is none for who wants none, and no node has to remember anything', async () => {
    const { outcome, settled } = await attempt([held(9 * SECOND), held(), held()], {
      tokenBlock: 0,
    });
    expect(outcome).toMatchObject({ kind: 'held', fencingToken: undefined, tokens: 0 });
    expect(settled).toEqual([]);
  });
});

describe('a vote', () => {
  it('is taken back from who gave it or may have, and not from who denied it', async () => {
    const { outcome, takenBack } = await attempt([held(), busy(), silent()]);
    expect(outcome).toBe('split');
    expect(takenBack).toEqual([0, 2]);
  });

  it('is taken back from all where no majority answers, and the caller is told how many did', async () => {
    const { outcome, takenBack } = await attempt([held(), silent(), silent()]);
    expect(outcome).toBeInstanceOf(QuorumNotReachedError);
    expect(outcome).toMatchObject({ votes: { nodes: 3, granted: 1, denied: 0, failed: 2 } });
    expect(takenBack).toEqual([0, 1, 2]);
  });

  it('is taken back where a majority voted, and does not remember the token', async () => {
    const votes = [held(9 * SECOND), held(), held()];
    const forgot = await attempt(votes, { settles: [false, false, true] });
    expect([forgot.outcome, forgot.takenBack]).toEqual(['split', [0, 1, 2]]);
    const unheard = await attempt(votes, { settles: [true, silent(), silent()] });
    expect(unheard.outcome).toMatchObject({ votes: { granted: 1, denied: 0, failed: 2 } });
    expect(unheard.takenBack).toEqual([0, 1, 2]);
  });
});

describe('a node that has forgotten a vote when it is to be renewed', () => {
  const request = (key: string) => ({
    key,
    holder: `${key}/1`,
    ttl: 30_000,
    tokenBlock: 0,
    format: NATIVE,
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  /** Three nodes: two that renew, and one that says later that it knows of nothing. */
  function forgetful(others: readonly (readonly number[])[]) {
    let answer!: (left: number[]) => void;
    const late = new Promise<readonly number[]>((resolve) => (answer = resolve));
    const revoted: string[] = [];
    const nodes = [...others.map((left) => Promise.resolve(left)), late].map((left) => ({
      extend: () => left,
      release: async () => true,
      revote: async ({ key }: { key: string }) => void revoted.push(key),
    }));
    const lock = new QuorumLock(nodes as unknown as QuorumNode[], 60_000, new ManualClock());
    return { lock, answer, revoted };
  }

  it('votes again for what a majority still has, and for nothing else', async () => {
    const { lock, answer, revoted } = forgetful([
      [900, 900, -2],
      [900, -3, -2],
    ]);
    const renewed = lock.extend(['a', 'b', 'c'].map(request));
    answer([-2, -2, -2]);
    expect((await renewed).remaining).toEqual([900, 'taken', 'free']);
    await turn();
    expect(revoted).toEqual(['a']);
  });

  it.each(['release', 'leave'] as const)(
    'does not vote again for who has called %s meanwhile, and does for others',
    async (step) => {
      const { lock, answer, revoted } = forgetful([
        [900, 900],
        [900, 900],
      ]);
      await lock.extend(['a', 'b'].map(request));
      await lock[step](request('a'), 0);
      answer([-2, -2]);
      await turn();
      expect(revoted).toEqual(['b']);
    },
  );

  it('and denied it to another is not asked to vote again', async () => {
    const { lock, answer, revoted } = forgetful([[900], [900]]);
    await lock.extend([request('a')]);
    answer([-3]);
    await turn();
    expect(revoted).toEqual([]);
  });
});

it('a proposal has the steps of the monotonic clock, until the wall clock is set by more than 2 ms', () => {
  const now = { monotonic: 1_000, wall: 50_000 };
  const clock = { monotonic: () => now.monotonic, wall: () => now.wall } as unknown as Clock;
  const proposal = new TokenProposal(clock);
  expect(proposal.now()).toBe(50_000_000);
  now.monotonic += 0.25; // the wall clock has whole ms
  expect(proposal.now()).toBe(50_000_250);
  now.wall += 2;
  expect(proposal.now()).toBe(50_000_250);
  now.wall += 1;
  expect(proposal.now()).toBe(50_003_000);
  now.wall -= 1_000;
  expect(proposal.now()).toBe(49_003_000);
});

/** One attempt on three nodes that vote so, and then remember the token or not. */
async function attempt(
  votes: readonly (Vote | Error)[],
  {
    settles = [true, true, true],
    tokenBlock = 10,
  }: { settles?: unknown[]; tokenBlock?: number } = {},
) {
  const settled: number[] = [];
  const takenBack: number[] = [];
  const answer = async (said: unknown): Promise<unknown> => {
    if (said instanceof Error) throw said;
    return said;
  };
  const nodes = votes.map((vote, at) => ({
    acquire: () => answer(vote),
    settle: (_attempt: unknown, last: number) => (settled.push(last), answer(settles[at])),
    takeBack: async () => void takenBack.push(at),
  }));
  const request = { key: 'k', holder: 'h/1', ttl: 30_000, tokenBlock, format: NATIVE };
  const round = new AcquireRound(
    nodes as unknown as QuorumNode[],
    { request, number: 1, proposed: PROPOSED },
    500,
    new ManualClock(),
  );
  const outcome = await round.run().catch((error: unknown) => error);
  return { outcome, settled, takenBack };
}
