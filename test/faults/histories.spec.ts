import type { Lease } from '../../lib/engine/client/leases/lease.js';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RedisProcess } from '../../tools/redis-server.js';
import { FAULTS } from '../histories/faults.js';
import { faultNamed, type Plan, planOf } from '../histories/plan.js';
import { PLACES, type PlaceName } from '../histories/places.js';
import { type Planted, type PlantName, plants } from '../histories/plants.js';
import { runHistory } from '../histories/run-history.js';
import { TTL as LONG } from '../support/bounds.js';
import { type Claimed, HistoryRecorder } from '../support/history.js';
import { monotonic } from '../support/monotonic.js';

const OPERATIONS = 300;
const LONGEST = 300_000;

const calm: Plan = {
  seed: 1,
  place: 'one Redis',
  fairness: 'strict',
  ioredis: process.env['IOREDIS'] === '5' ? 5 : 6,
  ttl: LONG,
  callers: 4,
  strokes: [],
};

let resource: RedisProcess;
beforeAll(async () => {
  resource = await RedisProcess.start();
});
afterAll(() => resource.stop());

describe.each(Object.keys(PLACES) as PlaceName[])('on %s', (place) => {
  it.each([planAt(place)])(
    'processes that lock in all ways keep every promise (seed $seed: $strokes)',
    async (plan) => {
      const { violations } = await runHistory(plan, resource, { operations: OPERATIONS });
      expect(violations).toEqual([]);
    },
    LONGEST,
  );
});

describe('a history', () => {
  it.each(Object.entries(plants))(
    'in which %s is found to be wrong',
    async (name, { found, strokes = [], ways }: Planted) => {
      const plan: Plan = { ...calm, ttl: 1_500, plant: name as PlantName, strokes };
      const demands = { operations: OPERATIONS, ...(ways && { ways }) };
      const { violations } = await runHistory(plan, resource, demands);
      expect(violations.filter((violation) => found.test(violation))).not.toEqual([]);
    },
    LONGEST,
  );

  it(
    'has readers who hold a lock together, and permits that do',
    async () => {
      const { claims, violations } = await runHistory(calm, resource, {
        operations: OPERATIONS,
        ways: { shared: 3, permits: 3, exclusive: 1 },
        keys: ['a'],
      });
      expect(violations).toEqual([]);
      const readers = claims.filter(({ beside }) => beside === Infinity);
      const permits = claims.filter(({ key, holder }) => key === 's' && !holder.endsWith('#2'));
      expect(mostAtOnce(readers)).toBeGreaterThan(1);
      expect(mostAtOnce(permits)).toBe(2);
    },
    LONGEST,
  );
});

it('who is killed counts as a holder for as long as its lease had been renewed', () => {
  const journal: Claimed[] = [];
  let now = 0;
  const recorder = new HistoryRecorder(
    () => now,
    (claim) => journal.push(claim),
  );
  const process = { store: { processId: 'p' }, clock: { wall: () => now } };
  const { signal } = new AbortController();
  const lease = { keys: ['a'], fencingTokenOf: () => 1, signal, expiresAt: 600 };
  recorder.record(process, lease as unknown as Lease, { key: 'a' });
  now = 500;
  recorder.noteRenewals();
  lease.expiresAt = 1_000;
  recorder.noteRenewals();
  expect(journal.map(({ from, to }) => [from, to])).toEqual([
    [0, 600],
    [0, 1_000],
  ]);
});

describe.each(['strict', 'local'] as const)('in %s order', (fairness) => {
  it.each([
    ['write', 0.1],
    ['read', 0.9],
  ] as const)(
    'where most %s nobody starves',
    async (_what, reads) => {
      const plan = { ...calm, fairness, callers: 8 };
      const { claims, violations } = await runHistory(plan, resource, {
        operations: 10 * OPERATIONS,
        ways: { shared: reads, exclusive: 1 - reads },
        keys: ['k'],
      });
      expect(violations).toEqual([]);
      const writers = claims.filter(({ beside }) => beside === undefined);
      const readers = claims.filter(({ beside }) => beside !== undefined);
      const waits = [turnsBefore(writers, claims), turnsBefore(readers, writers)];
      // In strict order each of the others comes before one once, and once more if its grant was on its way when one queued.
      // Else each process may first serve its own for 10 ms: about its whole queue.
      const bound = (3 * plan.callers - 1) * (fairness === 'strict' ? 2 : 5);
      for (const wait of waits) expect(wait).toBeLessThanOrEqual(bound);
    },
    LONGEST,
  );
});

/** A history at a place with a fault that few places know, of those that `npm run histories` plays first. A clock that is set needs gcc. */
function planAt(place: PlaceName): Plan {
  const plans = Array.from({ length: 4 * FAULTS.length }, (_, seed) => planOf(seed));
  const places = ({ strokes: [fault] }: Plan): number => faultNamed(fault!).on.length;
  const [rarest] = plans
    .filter(
      (plan) => plan.place === place && !plan.strokes.some((name) => faultNamed(name).clocked),
    )
    .sort((a, b) => places(a) - places(b) || a.seed - b.seed);
  return rarest!;
}

/** The most who held one key at a time. */
function mostAtOnce(claims: readonly Claimed[]): number {
  const moments = claims
    .flatMap(({ from, to }) => [
      { at: from, by: 1 },
      { at: to, by: -1 },
    ])
    .sort((a, b) => a.at - b.at || a.by - b.by);
  let [inside, most] = [0, 0];
  for (const { by } of moments) most = Math.max(most, (inside += by));
  return most;
}

/**
 * The most turns of `others` that began while one of `waiting` stood in the server's queue. A reader may hear late of its
 * grant, and other readers come meanwhile: only writers make it wait.
 */
function turnsBefore(waiting: readonly Claimed[], others: readonly Claimed[]): number {
  const ahead = Date.now() - monotonic(); // a server counts by the wall clock
  const begun = others.map(({ from }) => from + ahead);
  const queued = waiting.filter(({ arrival }) => arrival !== undefined);
  expect(queued).not.toEqual([]);
  const before = ({ arrival, from }: Claimed): number =>
    begun.filter((at) => at > arrival! / 1_000 && at < from + ahead).length;
  return Math.max(...queued.map(before));
}
