import { Redis } from 'ioredis';
import { setTimeout as pause } from 'node:timers/promises';
import type { Release } from '../adapters/index.js';
import { heapInUse } from '../measure/heap.js';
import { commandCalls, memoryInUse, serverLoad } from '../measure/server-load.js';
import { countTimers } from '../measure/timers.js';
import { monotonic } from '../measure/monotonic.js';
import { type Spent, spentFrom } from '../measure/spent.js';
import type { RenewalWorkload } from '../workloads/workload.js';
import type { Kind, Part } from './kind.js';

const KEY = 'bench:renewed:';
/** How many are asked for at once. */
const AT_ONCE = 256;

interface Renewals extends Spent, Part {
  /** How many were still in Redis at the end. */
  readonly kept: number;
  /** In ms. */
  readonly lasted: number;
  readonly scripts: number;
  /** Commands that scripts ran. */
  readonly inside: number;
  readonly timers: number;
  /** Bytes, of the process and of the server. */
  readonly heap: number;
  readonly serverMemory: number;
  /** The server's processor time, in µs. */
  readonly serverWorked: number;
}

/** Many leases that are renewed. */
export const renewal: Kind<RenewalWorkload, Renewals> = {
  long: true,

  timing: ({ held }, { watched }) => ({ warmUp: 0, window: watched ?? held }),

  refuses: (_, { renews }) => (renews ? undefined : 'it does not renew'),

  async play(client, { workload: { leases, ttl }, url, window }) {
    const redis = new Redis(url);
    const memoryBefore = await memoryInUse(redis);
    const heapBefore = heapInUse();
    const timers = countTimers();
    const held = await takeAll(leases, (lease) => client.hold!(KEY + lease, ttl));
    await pause(ttl / 3); // until renewals are spread over time
    await new Promise(setImmediate); // that pause is no timer of the library
    const timersRunning = timers();
    const heap = heapInUse() - heapBefore;
    const serverMemory = (await memoryInUse(redis)) - memoryBefore;
    const before = await commandCalls(redis);
    const serverBefore = await serverLoad(redis);
    const since = monotonic();
    const spent = await spentFrom(since);
    await pause(window.until - window.from);
    const { cpu, commands } = spent();
    const serverWorked = (await serverLoad(redis)).cpu - serverBefore.cpu;
    const lasted = monotonic() - since;
    const after = await commandCalls(redis);
    const scripts = after.scripts - before.scripts;
    const inside = after.inside - before.inside;
    const kept = await stillHeld(redis);
    await Promise.allSettled(held.map((release) => release()));
    await redis.quit();
    return {
      kept,
      lasted,
      scripts,
      inside,
      cpu,
      commands,
      heap,
      serverMemory,
      serverWorked,
      timers: timersRunning,
      unfinished: 0,
    };
  },

  figures({ leases }, [part]) {
    const {
      kept,
      lasted,
      scripts,
      inside,
      cpu,
      timers,
      commands,
      heap,
      serverMemory,
      serverWorked,
    } = part!;
    return {
      lost: leases - kept,
      cpuShare: (cpu / 1_000 / lasted) * 100,
      serverCpuShare: (serverWorked / 1_000 / lasted) * 100,
      scriptsPerSecond: (scripts / lasted) * 1_000,
      insidePerSecond: (inside / lasted) * 1_000,
      sentPerSecond: (commands / lasted) * 1_000,
      timers,
      heapPerLease: heap / leases,
      serverPerLease: serverMemory / leases,
    };
  },

  measures: () => [
    { figure: 'cpuShare', title: 'client CPU %', better: 'less', versus: ['peer'] },
    { figure: 'serverCpuShare', title: 'Redis CPU %', better: 'less', versus: ['peer'] },
    { figure: 'lost', title: 'lost', total: true },
    {
      figure: 'scriptsPerSecond',
      title: 'commands/s at Redis',
      better: 'less',
      versus: ['peer'],
    },
    { figure: 'insidePerSecond', title: 'inside scripts/s', better: 'less', versus: ['peer'] },
    { figure: 'sentPerSecond', title: 'sent/s' },
    { figure: 'timers', title: 'timers' },
    { figure: 'heapPerLease', title: 'heap bytes a lease' },
    { figure: 'serverPerLease', title: 'Redis bytes a lease' },
  ],
};

async function takeAll(
  count: number,
  take: (lease: number) => Promise<Release>,
): Promise<Release[]> {
  const held: Release[] = [];
  while (held.length < count) {
    const size = Math.min(AT_ONCE, count - held.length);
    const batch = Array.from({ length: size }, (_, at) => take(held.length + at));
    held.push(...(await Promise.all(batch)));
  }
  return held;
}

/** Whatever a library calls its keys: those that end as ours were named. */
async function stillHeld(redis: Redis): Promise<number> {
  let count = 0;
  for await (const names of redis.scanStream({ match: `*${KEY}*`, count: 5_000 })) {
    count += (names as string[]).filter((name) => /\d$/.test(name)).length;
  }
  return count;
}
