import type { LockClient } from '../../../engine/client/lock-client.js';
import { span, systemClock } from '../../../engine/options/index.js';
import type { RedisConnection } from '../../../engine/redis/index.js';
import { type Finding, ok, warning } from './finding.js';

const ROUNDS = 20;
/** A median above this is slow, in ms. */
const SLOW = 20;
/** A single answer above this is slow, in ms. */
const LATE = 250;
/** A difference of clocks above this is reported, in ms. */
const CLOCKS_APART = 1_000;

/** Measures the round trip to a server, and the difference of its clock from ours. */
export async function roundTrips(connection: RedisConnection): Promise<Finding[]> {
  const trips: { readonly took: number; readonly ahead: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const wall = systemClock.wall();
    const from = systemClock.monotonic();
    const [seconds, micros] = (await connection.send('time')) as [string, string];
    const took = systemClock.monotonic() - from;
    const server = Number(seconds) * 1_000 + Number(micros) / 1_000;
    trips.push({ took, ahead: server - (wall + took / 2) });
  }
  const { ahead } = trips.reduce((best, each) => (each.took < best.took ? each : best));
  return [clock(ahead), roundTrip(trips.map(({ took }) => took))];
}

function clock(ahead: number): Finding {
  const apart = Math.abs(ahead);
  if (apart < CLOCKS_APART) {
    return ok('clock', `It differs from this machine's by less than ${span(CLOCKS_APART)}.`);
  }
  const which = ahead > 0 ? 'ahead of' : 'behind';
  return warning(
    'clock',
    `Redis' clock is ${span(apart)} ${which} this machine's.`,
    'Set both by NTP. Native locks need no equal clocks, but dialect "timestamp" does, and so does whoever compares logs.',
  );
}

function roundTrip(took: readonly number[]): Finding {
  const { median, longest } = spreadOf(took);
  const found = `${ROUNDS} took ${shortSpan(median)} in the median, ${shortSpan(longest)} at most.`;
  if (median <= SLOW && longest <= LATE) return ok('round trip', found);
  const remedy =
    median > SLOW
      ? 'Run the application nearer to Redis: taking a lock needs a round trip, and so does giving it back.'
      : 'Look for load on Redis, the network or this machine; "commandTimeout" must be several times the longest.';
  return warning('round trip', found, remedy);
}

/** Measures an inspection of a lock, which is a script without a write. */
export async function scripts(client: LockClient): Promise<Finding> {
  const took: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const from = systemClock.monotonic();
    await client.inspect(`doctor:${round}`, 1);
    took.push(systemClock.monotonic() - from);
  }
  const { median, longest } = spreadOf(took);
  const found = `${ROUNDS} looks at a lock took ${shortSpan(median)} in the median, ${shortSpan(longest)} at most.`;
  if (median <= 2 * SLOW && longest <= LATE) return ok('scripts', found);
  const remedy =
    'SLOWLOG GET names what keeps Redis busy. Scripts and commands of others that run long delay every lock.';
  return warning('scripts', found, remedy);
}

function spreadOf(took: readonly number[]): { median: number; longest: number } {
  const sorted = took.toSorted((a, b) => a - b);
  return { median: sorted[Math.floor(sorted.length / 2)]!, longest: sorted.at(-1)! };
}

/** Formats a few ms, with tenths. */
function shortSpan(ms: number): string {
  return ms < 10 ? `${ms.toFixed(1)} ms` : span(ms);
}
