// What a child process of the tests runs: the library, driven by its parent's messages.
import { getEventListeners, setMaxListeners } from 'node:events';
import { register } from 'node:module';
import type { Lease } from '../../lib/engine/client/leases/lease.js';
import type { AcquireOptions, RedisLockOptions } from '../../lib/engine/options/index.js';
import type { Contention, Section } from './worker.js';
import { fencedWrite } from './fenced-store.js';
import { monotonic } from './monotonic.js';
import { until } from './until.js';

if (process.env['IOREDIS'] === '5') {
  const hook = `export const resolve = (name, context, next) => next(name === 'ioredis' ? 'ioredis-5' : name, context);`;
  register(`data:text/javascript,${encodeURIComponent(hook)}`);
}
const { Redis } = await import('ioredis');
const { LockProcess } = await import('./lock-process.js');
const { Grants } = await import('./grants.js');
const { runBuffer } = await import('./bounded-buffer.js');
const { CountingClock } = await import('./counting-clock.js');

const options = JSON.parse(process.argv[2]!) as RedisLockOptions & { redis: string };
const grants = new Grants();
grants.on = false;
const clock = new CountingClock();
const client = new LockProcess(options, (store) => grants.watch(store), clock);
const leases: Lease[] = [];

/** A lease as the parent speaks of it. */
function noted(lease: Lease): { lease: number; token: number; expiresAt: number; at: number } {
  const { expiresAt } = lease;
  const token = lease.toJSON().fencingToken ?? 0; // some dialects have none
  return { lease: leases.push(lease) - 1, token, expiresAt, at: monotonic() };
}

const commands = {
  async acquire(key: string, call?: AcquireOptions) {
    return noted(await client.acquire(key, call));
  },

  handOver: (lease: number) => leases[lease]!.handOver(),

  async restore(text: string) {
    return noted(await client.restore(text));
  },

  async release(lease: number) {
    const at = monotonic();
    return { released: await leases[lease]!.release(), at };
  },

  held: (lease: number) => leases[lease]!.held,

  load: () => client.locks.load,

  /** Spins until somebody stops the process for `ms`, and looks at the lease before anything else runs. */
  async assertAfterStall(lease: number, ms: number) {
    let last = monotonic(); // before the message: the answer to it may be the stop
    const end = last + 20_000;
    await new Promise((resolve) => process.send!({ spinning: true }, resolve));
    for (let now = monotonic(); now < end; last = now, now = monotonic()) {
      if (now - last < ms) continue;
      try {
        leases[lease]!.assertHeld();
        return 'held';
      } catch (error) {
        return (error as Error).name;
      }
    }
    return 'nobody stopped it';
  },

  async write(lease: number, resource: string, value: string) {
    const store = new Redis(options.redis);
    const written = await fencedWrite(store, resource, leases[lease]!.fencingToken, value);
    store.disconnect();
    return written;
  },

  /** Callers that take turns on a key until the time is up; each adds 1 to a value that only the lock protects. */
  async contend({ key, callers, end, pause, rest = 0, options: call }: Contention) {
    grants.on = true;
    const store = new Redis(options.redis);
    const sections: Section[] = [];
    const loop = async (): Promise<void> => {
      while (monotonic() < end) {
        const asked = monotonic();
        const { got: lease, holderIds } = await grants.during(() => client.acquire(key, call));
        const entered = monotonic();
        const token = lease.toJSON().fencingToken ?? 0; // some dialects have none
        const { arrival, atOnce } = grants.of(key, token, holderIds) ?? {};
        // Who was granted at once came to an empty queue, at the moment that the token tells.
        const came = arrival ?? (atOnce ? token : undefined);
        const value = Number(await store.get(`value:${key}`));
        await new Promise((resolve) => setTimeout(resolve, Math.random() * pause));
        await store.set(`value:${key}`, value + 1);
        const left = monotonic();
        const released = await lease.release();
        sections.push({ token, came, asked, entered, left, released });
        if (rest > 0) await new Promise((resolve) => setTimeout(resolve, Math.random() * rest));
      }
    };
    await Promise.all(Array.from({ length: callers }, loop));
    store.disconnect();
    return sections;
  },

  /** A writer that raises two values one after the other, and readers of both that take no lock, until the time is up. */
  async torn({ key, callers, end, pause }: Contention) {
    const store = new Redis(options.redis);
    const counts = { written: 0, validated: 0, refused: 0, torn: 0, tornAndRefused: 0 };
    const rest = (times = 1): Promise<void> =>
      new Promise((resolve) => setTimeout(resolve, Math.random() * pause * times));
    const write = async (): Promise<void> => {
      while (monotonic() < end) {
        await rest(10);
        const lease = await client.acquire(key);
        await store.incr(`left:${key}`);
        if (Math.random() < 0.5) await rest();
        await store.incr(`right:${key}`);
        await lease.release();
        counts.written += 1;
      }
    };
    const read = async (): Promise<void> => {
      while (monotonic() < end) {
        const stamp = await client.locks.optimistic(key);
        const left = await store.get(`left:${key}`);
        if (Math.random() < 0.5) await rest();
        const torn = left !== (await store.get(`right:${key}`));
        const valid = await stamp.validate();
        counts[valid ? 'validated' : 'refused'] += 1;
        if (torn) counts[valid ? 'torn' : 'tornAndRefused'] += 1;
      }
    };
    await Promise.all(Array.from({ length: callers }, (_, at) => (at === 0 ? write() : read())));
    store.disconnect();
    return counts;
  },

  /**
   * Locks and gives back, `count` times: most at once or after a wait, some aborted, timed out, or
   * renewed; all under one long-lived signal. Tells what is in use afterwards.
   */
  async cycle(count: number) {
    const { signal } = new AbortController();
    setMaxListeners(16, signal);
    let left = count;
    const loop = async (at: number): Promise<void> => {
      while (left-- > 0) {
        const key = `cycle-${left % 50 === 0 ? 'shared' : at % 4}`;
        const call: AcquireOptions = { wait: left % 20 === 0 ? 1 : 10_000, signal };
        const aborted = left % 7 === 0 ? { ...call, signal: AbortSignal.timeout(0) } : call;
        const lease = await client.acquire(key, aborted).catch(() => undefined);
        if (lease && left % 100 === 0) await lease.extend();
        await lease?.release();
      }
    };
    await Promise.all(Array.from({ length: 16 }, (_, at) => loop(at)));
    await until('nothing is under way', () => client.idle);
    // Those of waits and of slices ring once more when these are over.
    await until('the timers of what is over have rung', () => clock.running <= 2);
    global.gc!();
    return {
      heap: process.memoryUsage().heapUsed,
      timers: clock.running,
      listeners: getEventListeners(signal, 'abort').length,
    };
  },

  /** Fills and empties a bounded buffer until so many have come through. */
  async buffer(count: number) {
    const store = new Redis(options.redis);
    await runBuffer(client, store, count);
    store.disconnect();
    await until('nothing is under way', () => client.idle);
  },

  /** Ends by itself if the library leaves nothing behind that keeps a process alive. */
  async close() {
    const started = monotonic();
    await client.close();
    return {
      took: monotonic() - started,
    };
  },
};

export type WorkerCommands = typeof commands;

const troubles: string[] = [];
process.on('unhandledRejection', (reason) => troubles.push(`unhandled: ${String(reason)}`));
process.on('uncaughtException', (error) => troubles.push(`uncaught: ${error.stack ?? ''}`));

process.on('message', ({ id, command, args }: { id: number; command: string; args: unknown[] }) => {
  const run = (commands as unknown as Record<string, (...args: unknown[]) => unknown>)[command]!;
  void Promise.resolve()
    .then(() => run(...args))
    .then(
      (answer) => ({ id, answer, troubles }),
      (error: Error) => ({ id, error: { name: error.name, message: error.message }, troubles }),
    )
    .then((message) => {
      process.send!(message);
      if (command === 'close') process.disconnect();
    });
});
await client.locks.open();
process.send!({ ready: true });
