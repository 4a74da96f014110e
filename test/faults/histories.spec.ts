import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Lease } from '../../lib/client/lease.js';
import type { SingleLease } from '../../lib/client/single-lease.js';
import { Condition } from '../../lib/services/condition.js';
import { RedisProcess } from '../../tools/redis-server.js';
import {
  type Competition,
  conditionEventsIn,
  historyIn,
  type Way,
} from '../support/competition.js';
import { DEAD, PATIENCE, TTL as LONG } from '../support/bounds.js';
import { checkHistory, type Claimed, unsignalled } from '../support/history.js';
import { LockProcess } from '../support/lock-process.js';
import { monotonic } from '../support/monotonic.js';
import { Observer } from '../support/observer.js';
import { SleptClock } from '../support/slept-clock.js';
import { until } from '../support/until.js';
import { Worker } from '../support/worker.js';

const FULL = process.env['FULL'] !== undefined;
const SECONDS = FULL ? 20 : 2;
const CALLERS = FULL ? 16 : 8;
/** In ms; short, so that who is stopped loses what it holds. */
const TTL = 500;

const KEYS = ['a', 'b', 'c', 'd'];
const ONE = ['k'];
const write: Way = { keys: ONE };
const read: Way = { keys: ONE, mode: 'shared' };

const kinds: Readonly<Record<string, { ways: Competition['ways']; most: number }>> = {
  'exclusive locks': { ways: [[1, write]], most: 1 },
  'readers and writers': {
    ways: [
      [0.5, write],
      [0.5, read],
    ],
    most: Infinity,
  },
  'one permit': { ways: [[1, { keys: ONE, share: { permits: 1, count: 1 } }]], most: 1 },
  'five permits': { ways: [[1, { keys: ONE, share: { permits: 5, count: 1 } }]], most: 5 },
  'holders that give back until a condition is signalled': {
    ways: [[1, { keys: ONE, condition: { name: 'met', wait: 100 } }]],
    most: 1,
  },
  'many keys': {
    ways: [
      [0.7, { keys: KEYS, atOnce: 2 }],
      [0.3, { keys: KEYS }],
    ],
    most: 1,
  },
};

let redis: RedisProcess;
let observer: Observer;
let folder: string;
beforeAll(async () => {
  redis = await RedisProcess.start();
  observer = new Observer(redis.url);
});
afterAll(async () => {
  observer.close();
  await redis.stop();
});
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'histories-'));
  await observer.redis.flushall();
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Processes that compete, and what happens to them. */
class Crowd {
  readonly journal = join(folder, 'journal');
  readonly killed = new Map<number, number>();
  #end = 0;
  #strikes = 0;
  readonly stopped = new Set<number>();
  readonly #still = new Map<Worker, number>();
  readonly #workers = new Set<Worker>();
  readonly #work: Promise<void>[] = [];
  deaths = 0;

  /** How long the machine of each slept in all, and where it reads that. */
  readonly #nights = new Map<Worker, { readonly file: string; slept: number }>();

  constructor(
    private readonly fairness: 'local' | 'strict',
    private readonly ways: Competition['ways'],
    private readonly ttl: number,
  ) {}

  get over(): boolean {
    return monotonic() > this.#end;
  }

  async start(size: number): Promise<void> {
    const workers = await Promise.all(Array.from({ length: size }, () => this.#worker()));
    this.#end = monotonic() + SECONDS * 1_000;
    for (const worker of workers) this.#join(worker);
  }

  #worker(): Promise<Worker> {
    return Worker.start({ redis: redis.url, fairness: this.fairness, ttl: this.ttl });
  }

  #join(worker: Worker): void {
    const { ways, journal } = this;
    this.#workers.add(worker);
    const slept = join(folder, `slept-${worker.pid}`);
    SleptClock.set(slept, 0);
    this.#nights.set(worker, { file: slept, slept: 0 });
    const work = { ways, journal, callers: CALLERS, end: this.#end, pause: 5, slept };
    this.#work.push(
      worker.call('compete', work).catch((error: unknown) => {
        if (!this.killed.has(worker.pid)) throw error;
      }),
    );
  }

  /** Somebody is stopped for a while, or goes on, as from a sleep every other time, or is killed and replaced. */
  async strike(): Promise<void> {
    const worker = [...this.#workers][Math.floor(Math.random() * this.#workers.size)]!;
    const since = this.#still.get(worker);
    this.#strikes += 1;
    if (this.#strikes % 4 === 3) {
      this.killed.set(worker.pid, since ?? monotonic());
      this.#workers.delete(worker);
      this.#still.delete(worker);
      this.deaths += 1;
      await worker.kill();
      this.#join(await this.#worker());
    } else if (since === undefined) {
      await this.#stop(worker);
    } else {
      this.#goOn(worker, this.#strikes % 2 === 0);
    }
  }

  /** Everybody who lives ends its work. */
  async end(): Promise<Claimed[]> {
    for (const worker of this.#still.keys()) this.#goOn(worker, false);
    try {
      await Promise.all(this.#work);
    } finally {
      await Promise.all([...this.#workers].map((worker) => worker.kill())); // none is in the next test's way
    }
    return historyIn(this.journal, this);
  }

  async #stop(worker: Worker): Promise<void> {
    this.stopped.add(worker.pid);
    worker.signal('SIGSTOP');
    await until('it stands still', () => worker.isStopped);
    this.#still.set(worker, monotonic());
  }

  #goOn(worker: Worker, slept: boolean): void {
    const night = this.#nights.get(worker)!;
    if (slept) {
      night.slept += monotonic() - this.#still.get(worker)!;
      SleptClock.set(night.file, night.slept);
    }
    this.#still.delete(worker);
    worker.signal('SIGCONT');
  }
}

async function crowd(
  fairness: 'local' | 'strict',
  ways: Competition['ways'],
  ttl: number,
): Promise<Crowd> {
  const made = new Crowd(fairness, ways, ttl);
  await made.start(4);
  return made;
}

function met({ locks }: LockProcess, lease: Lease, name: string): Condition {
  return new Condition(locks.conditions, lease as SingleLease, name);
}

/** The most who held one key at a time. */
function mostAtOnce(history: readonly Claimed[]): number {
  const key = history[0]!.key;
  const moments = history
    .filter((entry) => entry.key === key)
    .flatMap(({ from, to }) => [
      { at: from, by: 1 },
      { at: to, by: -1 },
    ])
    .sort((a, b) => a.at - b.at || a.by - b.by);
  let [inside, most] = [0, 0];
  for (const { by } of moments) most = Math.max(most, (inside += by));
  return most;
}

/** The most sections that others began on the same key while one waited for its turn. */
function longestWait(history: readonly Claimed[], who: (entry: Claimed) => boolean): number {
  const begun = history.map(({ from }) => from).sort((a, b) => a - b);
  let [longest, low, high] = [0, 0, 0];
  const byAsked = history.filter(who).sort((a, b) => a.asked! - b.asked!);
  const positions = new Map(begun.map((from, at) => [from, at]));
  for (const { asked, from } of byAsked) {
    while (low < begun.length && begun[low]! <= asked!) low += 1;
    high = positions.get(from)!;
    longest = Math.max(longest, high - low);
  }
  return longest;
}

describe.each(['strict', 'local'] as const)('%s fairness', (fairness) => {
  it.each(Object.entries(kinds))(
    '%s in four processes, of which some are killed and some stopped at random',
    async (_name, { ways, most }) => {
      const processes = await crowd(fairness, ways, TTL);
      while (!processes.over) {
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 300));
        await processes.strike();
      }
      const history = await processes.end();
      checkHistory(history);
      const events = conditionEventsIn(processes.journal, processes);
      expect(unsignalled(events)).toEqual([]);
      expect(events.length > 0).toBe(ways[0]![1].condition !== undefined);
      expect(processes.deaths).toBeGreaterThan(0);
      expect(history.length).toBeGreaterThan(5 * SECONDS);
      const found = mostAtOnce(history);
      expect(found).toBeLessThanOrEqual(most);
      expect(found).toBeGreaterThanOrEqual(Math.min(most, 2));

      // What the dead held and where they waited is free in the time that a crash may cost.
      const after = new LockProcess({ redis: redis.url });
      try {
        await after.locks.open();
        const keys = [...new Set(history.map(({ key }) => key))].sort();
        const { share, condition } = ways[0]![1];
        const call = { ...after.settings.call, share };
        const noTrace = async (): Promise<boolean> => {
          const lease = await after.locks.acquire(keys.length > 1 ? keys : keys[0]!, call);
          if (condition) await met(after, lease, condition.name).signalAll(); // passes over the dead
          await lease.release();
          return (await observer.traces()).length === 0;
        };
        await until('no trace is left', noTrace, TTL + DEAD + PATIENCE); // what is left for good stays for a minute
      } finally {
        await after.close();
      }
      console.info(`${history.length} sections, ${processes.deaths} deaths, ${found} at once`);
    },
  );

  it.each([
    ['write', 0.1],
    ['read', 0.9],
  ] as const)('where most %s nobody starves', async (_what, readers) => {
    const ways = [
      [readers, read],
      [1 - readers, write],
    ] as const;
    // Nobody is stopped here: a process that the machine lets wait for a while loses nothing.
    const processes = await crowd(fairness, ways, LONG);
    const history = await processes.end();
    checkHistory(history);
    const waits = [
      longestWait(history, ({ beside }) => beside === undefined),
      longestWait(history, ({ beside }) => beside !== undefined),
    ];
    // In strict order each of the others comes before one once, once more while one's ask is on its way, and
    // once more while the grant is. Else each process may first serve its own for 10 ms: about its whole queue.
    const bound = (4 * CALLERS - 1) * (fairness === 'strict' ? 3 : 6);
    for (const wait of waits) expect(wait).toBeLessThanOrEqual(bound);
    console.info(
      `${history.length} sections; writers and readers waited for ${waits.join(', ')} others`,
    );
  });
});
