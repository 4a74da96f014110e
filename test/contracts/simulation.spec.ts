import { afterEach, expect, it, jest } from '@jest/globals';
import { momentOf } from '../../lib/engine/options/index.js';
import { datedLate } from '../support/dated-late.js';
import { sameToken, type Plant } from '../support/plant.js';
import { CALM, ROUGH, simulate, STORM } from '../support/simulation.js';
import { withSteps } from '../support/world.js';

afterEach(() => void jest.restoreAllMocks());

const NETWORKS = { 'a calm network': CALM, 'a rough network': ROUGH, 'a storm': STORM };
const cases = Object.entries(NETWORKS).flatMap(([name, trouble]) =>
  (['local', 'strict'] as const).map((fairness) => [name, fairness, trouble] as const),
);

it.each(cases)(
  'over %s, %s, leases never overlap, tokens grow, turns are kept and nothing is left',
  async (_name, fairness, trouble) => {
    const seeds = process.env['FULL'] === undefined ? 8 : 200;
    let sections = 0;
    for (let seed = 1; seed <= seeds; seed += 1) {
      try {
        sections += await simulate(seed, trouble, fairness);
      } catch (error) {
        throw new Error(`Seed ${seed}: ${(error as Error).message}`, { cause: error });
      }
    }
    expect(sections).toBeGreaterThan(seeds * 10);
  },
);

type Mistake = Plant & { readonly fairness: 'local' | 'strict' };

const mistakes: Readonly<Record<string, Mistake>> = {
  'a deadline counted from the reply': {
    fairness: 'local',
    wrap: (store, clock) =>
      withSteps(store, {
        acquire: async (ask) => {
          const answer = await store.acquire(ask);
          return answer.kind === 'held' ? { ...answer, sent: momentOf(clock) } : answer;
        },
        extend: async (requests) => {
          const { remaining } = await store.extend(requests);
          return { remaining, sent: momentOf(clock) };
        },
      }),
  },
  'a wall clock that is read with the answer': {
    fairness: 'local',
    wrap: datedLate,
  },
  'a lease that is believed to last a little longer': {
    fairness: 'local',
    wrap: (store) =>
      withSteps(store, {
        acquire: async (ask) => {
          const answer = await store.acquire(ask);
          return answer.kind === 'held' ? { ...answer, remaining: answer.remaining + 200 } : answer;
        },
      }),
  },
  'a successor that keeps its predecessor’s token': { fairness: 'strict', ...sameToken },
};

it.each(Object.entries(mistakes))(
  'a storm finds %s',
  async (_name, { fairness, sow, wrap }) => {
    const found = async (seed: number): Promise<boolean> =>
      simulate(seed, STORM, fairness, wrap).then(
        () => false,
        (error: Error) => /history is wrong/.test(error.message),
      );
    const undo = sow?.();
    try {
      let caught = false;
      for (let seed = 1; seed <= 400 && !caught; seed += 1) {
        caught = await found(seed);
      }
      expect(caught).toBe(true);
    } finally {
      undo?.();
    }
  },
  300_000,
); // a busy machine takes its time for as many seeds
