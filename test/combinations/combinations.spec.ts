import { afterEach, expect, it, jest } from '@jest/globals';
import { momentOf, READER } from '../../lib/engine/options/index.js';
import { sameToken, type Plant } from '../support/plant.js';
import { random } from '../support/random.js';
import { withSteps } from '../support/world.js';
import { play } from './play.js';
import { Broken } from './promises.js';

afterEach(() => void jest.restoreAllMocks());

/** `SEED=7 npm run jest -- test/combinations` plays one again, and tells what happened in it. */
const only = process.env['SEED'];
const SOME = 20;
/** The first seed of each test. */
const firsts =
  only !== undefined
    ? [Number(only)]
    : Array.from({ length: process.env['FULL'] ? 10 : 1 }, (_, at) => 1 + at * SOME);
const cases = firsts.flatMap((first) => [[first, 'local'] as const, [first, 'strict'] as const]);

function played(seed: number, fairness: 'local' | 'strict', plant: Plant = {}): Promise<number> {
  const chance = random(seed);
  jest.spyOn(Math, 'random').mockImplementation(chance);
  return play(chance, fairness, plant.wrap);
}

it.each(cases)(
  'whatever options are put together, from seed %i, %s, the promises are kept',
  async (first, fairness) => {
    const last = only === undefined ? first + SOME - 1 : first;
    let calls = 0;
    for (let seed = first; seed <= last; seed += 1) {
      try {
        calls += await played(seed, fairness);
      } catch (error) {
        throw new Error(`SEED=${seed}: ${(error as Error).message}`, { cause: error });
      }
    }
    expect(calls).toBeGreaterThan((last - first + 1) * 40);
  },
);

const mistakes: Readonly<Record<string, Plant>> = {
  'a successor that keeps its predecessor’s token': sameToken,
  'a minimum hold that is not kept': {
    wrap: (store) => withSteps(store, { release: (request) => store.release(request, 0) }),
  },
  'a writer that is taken for a reader': {
    wrap: (store) =>
      withSteps(store, {
        acquire: (ask) =>
          store.acquire(ask.share || !ask.format.queue ? ask : { ...ask, share: READER }),
      }),
  },
  'an extension that is not made': {
    wrap: (store, clock) =>
      withSteps(store, {
        extend: async (requests) => ({
          sent: momentOf(clock),
          remaining: requests.map(({ ttl }) => ttl),
        }),
      }),
  },
};

it.each(Object.entries(mistakes))(
  'some combination shows %s',
  async (_name, plant) => {
    const undo = plant.sow?.();
    try {
      let shown = false;
      for (let seed = 1; seed <= 100 && !shown; seed += 1) {
        shown = await played(seed, 'local', plant).then(
          () => false,
          (error: Error) => error.cause instanceof Broken,
        );
      }
      expect(shown).toBe(true);
    } finally {
      undo?.();
    }
  },
  300_000,
); // the first takes some fifty seeds: ten seconds, or a minute on a busy machine
