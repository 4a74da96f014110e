import { afterEach, expect, it, jest } from '@jest/globals';
import { CALM, ROUGH, simulate, STORM } from '../support/simulation.js';
import { type Wrap, withPrimitive } from '../support/world.js';

afterEach(() => void jest.restoreAllMocks());

it.each([
  ['a calm network', CALM],
  ['a rough network', ROUGH],
  ['a storm', STORM],
] as const)(
  'over %s leases never overlap, tokens grow, turns are kept and nothing is left',
  async (_name, trouble) => {
    const seeds = 20;
    let sections = 0;
    for (let seed = 1; seed <= seeds; seed += 1) {
      try {
        sections += await simulate(seed, trouble);
      } catch (error) {
        throw new Error(`Seed ${seed}: ${(error as Error).message}`, { cause: error });
      }
    }
    expect(sections).toBeGreaterThan(seeds * 10);
  },
);

const mistakes: Readonly<Record<string, Wrap>> = {
  'a deadline counted from the reply': (store, clock) =>
    withPrimitive(store, {
      acquire: async (ask) => {
        const answer = await store.lock.acquire(ask);
        return answer.kind === 'held' ? { ...answer, sentAt: clock.monotonic() } : answer;
      },
      extend: async (claims) => {
        const { remaining } = await store.lock.extend(claims);
        return { remaining, sentAt: clock.monotonic() };
      },
    }),
  'a lease that is believed to last a little longer': (store) =>
    withPrimitive(store, {
      acquire: async (ask) => {
        const answer = await store.lock.acquire(ask);
        return answer.kind === 'held' ? { ...answer, remaining: answer.remaining + 200 } : answer;
      },
    }),
};

it.each(Object.entries(mistakes))('a storm finds %s', async (_name, wrap) => {
  const found = async (seed: number): Promise<boolean> =>
    simulate(seed, STORM, wrap).then(
      () => false,
      (error: Error) => /history is wrong/.test(error.message),
    );
  let caught = false;
  for (let seed = 1; seed <= 400 && !caught; seed += 1) caught = await found(seed);
  expect(caught).toBe(true);
});
