import { afterEach, expect, it, jest } from '@jest/globals';
import { type LockEventName, Publisher } from '../../lib/engine/events/index.js';
import { type Attempt, QuorumNode, type Vote } from '../../lib/engine/locks/quorum/quorum-node.js';
import { momentOf, READER } from '../../lib/engine/options/index.js';
import { inPrototype, sameToken, type Plant } from '../support/plant.js';
import { random } from '../support/random.js';
import { withSteps } from '../support/world.js';
import { Broken } from './hold.js';
import { play } from './play.js';
import { type SettingName, settings } from './world.js';

afterEach(() => void jest.restoreAllMocks());

/** `SEED=7 npm run jest -- test/combinations` plays one again, and tells what happened in it. */
const only = process.env['SEED'];
const SOME = 10;
/** The first seed of each test. */
const firsts =
  only !== undefined
    ? [Number(only)]
    : Array.from({ length: process.env['FULL'] ? 10 : 1 }, (_, at) => 1 + at * SOME);
const cases = firsts.flatMap((first) =>
  Object.keys(settings).map((where) => [where as SettingName, first] as const),
);

function played(seed: number, where: SettingName, plant: Plant = {}): Promise<number> {
  const chance = random(seed);
  jest.spyOn(Math, 'random').mockImplementation(chance);
  return play(chance, settings[where], plant.wrap);
}

it.each(cases)(
  'whatever options are put together, %s, from seed %i, the promises are kept',
  async (where, first) => {
    const last = only === undefined ? first + SOME - 1 : first;
    let calls = 0;
    for (let seed = first; seed <= last; seed += 1) {
      try {
        calls += await played(seed, where);
      } catch (error) {
        throw new Error(`SEED=${seed}: ${(error as Error).message}`, { cause: error });
      }
    }
    expect(calls).toBeGreaterThan((last - first + 1) * 40);
  },
);

/** Where it shows; by default over a calm network. */
type Mistake = Plant & { readonly where?: SettingName };

const mistakes: Readonly<Record<string, Mistake>> = {
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
  'a renewal without an answer that counts': {
    where: 'over a bad network',
    wrap: (store, clock) =>
      withSteps(store, {
        extend: (requests) =>
          store.extend(requests).catch(() => ({
            sent: momentOf(clock),
            remaining: requests.map(({ ttl }) => ttl),
          })),
      }),
  },
  'a server that votes for two': {
    where: 'by votes of three servers',
    ...inPrototype(QuorumNode.prototype, 'acquire', (acquire) => ({
      async value(this: QuorumNode, attempt: Attempt, timeout: number): Promise<Vote> {
        const vote = await acquire.call(this, attempt, timeout);
        if (vote.kind !== 'busy') return vote;
        return { ...vote, kind: 'held', detail: attempt.proposed };
      },
    })),
  },
  'an end that is told twice': inPrototype(Publisher.prototype, 'tell', (tell) => ({
    value(this: Publisher, name: LockEventName, event: () => never) {
      tell.call(this, name, event);
      if (name === 'released') tell.call(this, name, event);
    },
  })),
};

it.each(Object.entries(mistakes))(
  'some combination shows %s',
  async (_name, { where = 'over a calm network, local', ...plant }) => {
    const undo = plant.sow?.();
    try {
      let shown = false;
      for (let seed = 1; seed <= 100 && !shown; seed += 1) {
        shown = await played(seed, where, plant).then(
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
