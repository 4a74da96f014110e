import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisProcess } from '../../tools/redis-server.js';
import { isRetryable } from '../../lib/engine/client/leases/claim.js';
import { LeaseLostError } from '../../lib/engine/errors/index.js';
import { systemClock } from '../../lib/engine/options/index.js';
import { DEAD, PATIENCE } from '../support/bounds.js';
import { controlOf } from '../support/control.js';
import type { Claimed } from '../support/history.js';
import { monotonic } from '../support/monotonic.js';
import { random } from '../support/random.js';
import { until } from '../support/until.js';
import { Application } from './application.js';
import { Attention, type Pause } from './attention.js';
import { Evidence } from './checks.js';
import { Crowd } from './crowd.js';
import type { Stroke } from './failures.js';
import { Guarded } from './guarded.js';
import { faultNamed, type Plan } from './plan.js';
import { Place } from './places.js';
import { type Play, shortestLease } from './player.js';

/** What came of a history. */
export interface Outcome {
  readonly plan: Plan;
  readonly operations: number;
  /** How often a lock was granted. */
  readonly sections: number;
  /** For each stroke: after how many ms each process had a lock again. */
  readonly recoveries: readonly { readonly fault: string; readonly ms: number }[];
  readonly violations: readonly string[];
  readonly seconds: number;
}

export interface Demands {
  /** How many calls of the library are enough. */
  readonly operations: number;
  /** How often each way to lock is chosen, if not all are. */
  readonly ways?: Play['ways'];
  readonly keys?: Play['keys'];
  /** Where the journals of a history stay in which something is wrong; undefined: nowhere. */
  readonly journals?: string | undefined;
}

const PROCESSES = 3;
const KEYS = ['a', 'b', 'c'];
const SEMAPHORE = 's';
const PERMITS = 2;
/** After a fault each process has a lock again within so long, and each lock has been granted some times, in ms beside a lease. */
const RECOVERY = 15_000;
/** After so long a history ends in any case, in ms. */
const LONGEST = 120_000;

const ALONE: Play['ways'] = {
  exclusive: 4,
  many: 1,
  nested: 1,
  extend: 1,
  long: 0.1,
  tried: 1,
  aborted: 1,
};
const WAYS: Play['ways'] = {
  ...ALONE,
  shared: 3,
  permits: 4,
  condition: 2,
  handOver: 0.5,
  restore: 1,
  downgrade: 1,
  optimistic: 2,
};

/**
 * Plays a history: processes lock in all ways until they did `operations` and the strokes of the plan are over. `resource`
 * is a server without faults.
 */
export async function runHistory(
  plan: Plan,
  resource: RedisProcess,
  { operations, ways, keys = KEYS, journals }: Demands,
): Promise<Outcome & { readonly claims: readonly Claimed[] }> {
  const from = monotonic();
  const folder = mkdtempSync(join(tmpdir(), 'history-'));
  const faults = plan.strokes.map(faultNamed);
  const store = controlOf(resource.url);
  await store.flushall();
  const proxied = faults.some((fault) => fault.proxied);
  const clocked = faults.some((fault) => fault.clocked);
  const place = await Place.start(plan.place, proxied ? PROCESSES : 0, clocked);
  const crowd = new Crowd(plan.ioredis, (at, nth) => ({
    options: { ...place.options(at), fairness: plan.fairness, ttl: plan.ttl, shutdownGrace: 500 },
    ways: ways ?? (place.hasQueue ? WAYS : ALONE),
    keys,
    semaphore: SEMAPHORE,
    permits: PERMITS,
    callers: plan.callers,
    seed: plan.seed * 1_000 + nth,
    ttl: plan.ttl,
    wait: 2 * plan.ttl,
    folder,
    name: `process-${nth}`,
    resource: resource.url,
    plant: plan.plant,
  }));
  const locks = place.hasQueue ? [...keys, SEMAPHORE] : keys;
  const violations: string[] = [];
  const recoveries: { fault: string; ms: number }[] = [];
  let started = Infinity;
  const strokes: Stroke[] = [];
  const pauses: Pause[] = [];
  const attention = new Attention((ms) => pauses.push({ at: monotonic(), ms }));
  const draw = random(plan.seed);
  try {
    await crowd.start(PROCESSES);
    await crowd.goesOn(from, RECOVERY + plan.ttl);
    started = monotonic();
    for (const fault of faults) {
      await sleep(300 * draw());
      const stroke = { fault, from: monotonic(), to: Infinity };
      strokes.push(stroke);
      await fault.strike({ place, crowd, random: draw, ttl: plan.ttl, keys });
      const ms = await crowd.goesOn(monotonic(), RECOVERY + plan.ttl, locks);
      stroke.to = monotonic();
      recoveries.push({ fault: fault.name, ms: Math.round(ms) });
      violations.push(...endless(await place.keys()));
    }
    const late = monotonic() + LONGEST;
    await until(
      'enough was done',
      () => crowd.operations >= operations || monotonic() > late,
      LONGEST + 1_000,
    );
    violations.push(...endless(await place.keys()));
    violations.push(...(await crowd.end()).map((open) => `never settled: ${open}`));
    violations.push(...endless(await place.keys()));
    violations.push(...(await leftBehind(place, plan, keys)));
  } catch (error) {
    violations.push(`failed: ${String(error)}`);
    const ended = await crowd.end().catch(() => []);
    violations.push(...ended.map((open) => `never settled: ${open}`));
  } finally {
    await crowd.killAll();
    attention.end();
  }
  const processesOnly = faults.every(({ keepsOrder }) => keepsOrder);
  const evidence = new Evidence(folder, crowd, shortestLease(plan.ttl));
  violations.push(
    ...evidence.violations({
      held: !faults.some(({ fencedOn = [] }) => fencedOn.includes(plan.place)),
      inOrder: plan.fairness === 'strict' && place.hasQueue && processesOnly,
      signalled: processesOnly && !place.confirms,
      circumstances: {
        started,
        strokes,
        pauses,
        lateAlone: place.confirms || place.syncs,
        failsOver: place.failsOver,
      },
    }),
  );
  const wrong = await new Guarded(store).wrongWrites(keys);
  violations.push(...wrong.map((what) => `guarded write: ${what}`));
  store.disconnect();
  await place.stop();
  if (journals !== undefined && violations.length > 0) {
    cpSync(folder, join(journals, `seed-${plan.seed}`), { recursive: true });
  }
  rmSync(folder, { recursive: true });
  return {
    plan,
    operations: crowd.operations,
    sections: crowd.grants.length,
    recoveries,
    violations,
    claims: evidence.claims,
    seconds: (monotonic() - from) / 1_000,
  };
}

function endless(keys: readonly { name: string; ttl: number }[]): string[] {
  return keys.filter(({ ttl }) => ttl === -1).map(({ name }) => `no end: ${name}`);
}

/** What is left in the servers when each lock was taken once more, by who passes over the dead. */
async function leftBehind(place: Place, plan: Plan, keys: readonly string[]): Promise<string[]> {
  const options = { ...place.options(), ttl: plan.ttl };
  const app = await Application.start(options, systemClock, (store) => store);
  const wait = plan.ttl + DEAD + PATIENCE;
  const traces = async (): Promise<string[]> =>
    (await place.keys())
      .map(({ name }) => name)
      .filter((name) => !/:(?:fences?|versions?|seen)$/.test(name));
  const takeEach = async (): Promise<void> => {
    for (const key of keys) {
      const lease = await app.locks.acquire(key, { wait });
      if (place.hasQueue) await app.locks.condition(lease, 'met').signalAll();
      await lease.release();
    }
    if (place.hasQueue) {
      const lease = await app.locks.semaphore(SEMAPHORE, { permits: PERMITS }).acquire({ wait });
      await lease.release();
    }
  };
  let refusal: Error | undefined;
  /** A server that must not forget may grant nothing for a ttl, and this process may stand still for longer than a lease. */
  const looked = async (): Promise<boolean> => {
    refusal = undefined;
    await takeEach().catch((error: Error) => {
      refusal = error;
      if (!isRetryable(error) && !(error instanceof LeaseLostError)) throw error;
    });
    return refusal === undefined && (await traces()).length === 0;
  };
  try {
    await until('nothing is left', looked, wait);
    return [];
  } catch {
    const left = (await traces()).map((name) => `left behind: ${name}`);
    return refusal === undefined ? left : [...left, `left behind: not known. ${String(refusal)}`];
  } finally {
    await app.close();
  }
}
