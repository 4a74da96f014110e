// What a child process of the tests runs: the library, driven by its parent's messages.
import { register } from 'node:module';
import type { Lease } from '../../lib/leases/lease.js';
import type { AcquireOptions, RedisLockOptions } from '../../lib/options/index.js';
import type { Contention, Section } from './worker.js';
import { fencedWrite } from './fenced-store.js';
import { monotonic } from './monotonic.js';

if (process.env['IOREDIS'] === '5') {
  const hook = `export const resolve = (name, context, next) => next(name === 'ioredis' ? 'ioredis-5' : name, context);`;
  register(`data:text/javascript,${encodeURIComponent(hook)}`);
}
const { Redis } = await import('ioredis');
const { LockClient } = await import('./lock-client.js');
const { ArrivalRecorder } = await import('./arrival-recorder.js');

const options = JSON.parse(process.argv[2]!) as RedisLockOptions & { redis: string };
const recorder = new ArrivalRecorder();
const client = new LockClient(options, (store) => recorder.wrap(store));
const leases: Lease[] = [];

const commands = {
  async acquire(key: string, call?: AcquireOptions) {
    const lease = await client.acquire(key, call);
    return {
      lease: leases.push(lease) - 1,
      token: lease.fencingToken,
      expiresAt: lease.expiresAt,
      at: monotonic(),
    };
  },

  async release(lease: number) {
    const at = monotonic();
    return { released: await leases[lease]!.release(), at };
  },

  held: (lease: number) => leases[lease]!.held,

  load: () => client.leases.load,

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
  async contend({ key, callers, until, pause, options: call }: Contention) {
    const store = new Redis(options.redis);
    const sections: Section[] = [];
    const loop = async (): Promise<void> => {
      while (monotonic() < until) {
        const asked = monotonic();
        const lease = await client.acquire(key, call);
        const entered = monotonic();
        const value = Number(await store.get(`value:${key}`));
        await new Promise((resolve) => setTimeout(resolve, Math.random() * pause));
        await store.set(`value:${key}`, value + 1);
        const left = monotonic();
        const token = lease.fencingToken;
        const released = await lease.release();
        const arrival = recorder.granted.get(token);
        sections.push({ token, arrival, asked, entered, left, released });
      }
    };
    await Promise.all(Array.from({ length: callers }, loop));
    store.disconnect();
    return sections;
  },

  /** Ends by itself if the library leaves nothing behind that keeps a process alive. */
  async close() {
    const started = monotonic();
    await client.close();
    return {
      took: monotonic() - started,
      resources: process.getActiveResourcesInfo(),
      load: client.leases.load,
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
await client.leases.open();
process.send!({ ready: true });
