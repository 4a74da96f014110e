import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { RedisProcess } from '../../tools/redis-server.js';
import { BY_POLL, COMMAND } from '../support/bounds.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { LockProcess } from '../support/lock-process.js';
import { monotonic } from '../support/monotonic.js';
import { Observer } from '../support/observer.js';
import { until } from '../support/until.js';
import { Worker } from '../support/worker.js';

/** The longest first lease of a pushed grant, in ms. */
const FIRST_LEASE = 3_000;

let redis: RedisProcess;
let observer: Observer;
/** All that live: a process is expensive to start. */
let workers: Worker[] = [];
beforeAll(async () => {
  redis = await RedisProcess.start();
  observer = new Observer(redis.url);
});
beforeEach(() => observer.redis.flushall());
afterEach(() => workers.forEach((worker) => worker.signal('SIGCONT')));
afterAll(async () => {
  await kill(...workers);
  observer.close();
  await redis.stop();
});

it('a killed holder is followed at the end of its lease, not before', async () => {
  const [killed, stopped, successor] = await start(3);
  const ends = async (holder: Worker, key: string, end: () => unknown): Promise<void> => {
    await acquire(holder, key, 3_000);
    const [granted] = await enqueue(key, [successor!]);
    await end();
    const before = monotonic();
    const left = await observer.redis.pttl(`lock:${key}`);
    const after = monotonic();
    expect(left).toBeGreaterThan(0);
    const { at } = await granted!;
    expect(at).toBeGreaterThanOrEqual(before + left - 1);
    expect(at).toBeLessThan(after + left + BY_POLL);
  };
  await Promise.all([
    ends(killed!, 'killed', () => kill(killed!)),
    ends(stopped!, 'stopped', () => stopped!.signal('SIGSTOP')),
  ]);
  stopped!.signal('SIGCONT');
});

it('five killed processes at the head of the queue cost the next living one no lease', async () => {
  const [holder, living, ...dying] = await start(7);
  const held = await acquire(holder!, 'k');
  void (await enqueue('k', dying));
  const [granted] = await enqueue('k', [living!]);
  await kill(...dying);
  const { at: released } = await holder!.call('release', held.lease);
  const { at, token } = await granted!;
  expect(at - released).toBeLessThan(BY_POLL); // nobody hears their pushes
  expect(token).toBeGreaterThan(held.token);
});

it('waiters whose network died cost the next living one a first lease, however many they are', async () => {
  const [holder, living] = await start(2);
  const held = await acquire(holder!, 'k');
  const proxy = await FaultProxy.before(redis.port);
  const options = { redis: proxy.url, commandTimeout: COMMAND };
  const dying = Array.from({ length: 5 }, () => new LockProcess(options));
  const lost = dying.map((client) => client.acquire('k', { wait: 60_000 }));
  await observer.queued('k', 5);
  const [granted] = await enqueue('k', [living!]);
  proxy.blackHole();
  const { at: released } = await holder!.call('release', held.lease);
  const { at } = await granted!;
  expect(at - released).toBeLessThan(FIRST_LEASE + BY_POLL);
  await Promise.all([
    ...lost.map((call) => expect(call).rejects.toMatchObject({ name: 'LockShutdownError' })),
    ...dying.map((client) => client.close()),
  ]);
  await proxy.close();
});

it('waiters whose subscriptions are cut keep their entries and are served', async () => {
  const [holder, ...waiting] = await start(4);
  let { lease } = await acquire(holder!, 'k');
  const queue = await enqueue('k', [...waiting, ...waiting, ...waiting]);
  let release = (): Promise<{ at: number; released: boolean }> => holder!.call('release', lease);
  const open = new Map(queue.map((call, at) => [at, call.then((grant) => ({ at, grant }))]));
  const tokens: number[] = [];
  while (open.size > 0) {
    expect(await observer.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub')).toBeGreaterThan(0);
    const { at: turn } = await release();
    const { at, grant } = await Promise.race(open.values());
    open.delete(at);
    expect(grant.at - turn).toBeLessThan(BY_POLL);
    tokens.push(grant.token);
    ({ lease } = grant);
    release = () => waiting[at % waiting.length]!.call('release', grant.lease);
    await until('the subscribers are back', async () => {
      const clients = String(await observer.redis.call('CLIENT', 'LIST', 'TYPE', 'pubsub'));
      return clients.trim().split('\n').length === workers.length;
    });
  }
  await release();
  expect(tokens).toEqual([...tokens].sort((a, b) => a - b));
  expect(tokens).toHaveLength(9);
  expect(await observer.traces()).toEqual([]);
});

for (const [ttl, firstLease, most] of [
  [1_000, 1_000, FIRST_LEASE - 100],
  [30_000, FIRST_LEASE, FIRST_LEASE + BY_POLL],
] as const) {
  it(`a successor that hangs costs its first lease of ${firstLease} ms, and queues again when it wakes`, async () => {
    const [holder, successor, next] = await start(3);
    const held = await acquire(holder!, 'k');
    const [late] = await enqueue('k', [successor!], ttl);
    const [granted] = await enqueue('k', [next!]);
    successor!.signal('SIGSTOP');
    const { at: released } = await holder!.call('release', held.lease);
    const { at, lease, token } = await granted!;
    expect(at - released).toBeLessThan(most);
    expect(at - released).toBeGreaterThan(firstLease - 50);
    successor!.signal('SIGCONT');
    await observer.queued('k', 1);
    const { at: over, released: ours } = await next!.call('release', lease);
    expect(ours).toBe(true);
    const second = await late!;
    expect(second.at).toBeGreaterThan(over);
    expect(second.token).toBeGreaterThan(token);
    expect(await successor!.call('held', second.lease)).toBe(true);
  });
}

async function start(count: number): Promise<Worker[]> {
  const missing = Math.max(0, count - workers.length);
  workers.push(...(await Worker.startMany(missing, { redis: redis.url })));
  return workers.slice(0, count);
}

async function kill(...dying: Worker[]): Promise<void> {
  workers = workers.filter((worker) => !dying.includes(worker));
  await Promise.all(dying.map((worker) => worker.kill()));
}

/** Puts each worker into the queue of `key`, in their order. */
async function enqueue(
  key: string,
  waiting: readonly Worker[],
  ttl = 30_000,
): Promise<ReturnType<typeof acquire>[]> {
  const before = await observer.waiting(key);
  const calls: ReturnType<typeof acquire>[] = [];
  for (const [at, worker] of waiting.entries()) {
    const call = acquire(worker, key, ttl);
    call.catch(() => {}); // the workers that are killed never answer
    calls.push(call);
    await observer.queued(key, before + at + 1);
  }
  return calls;
}

function acquire(worker: Worker, key: string, ttl = 30_000) {
  return worker.call('acquire', key, { ttl, wait: 30_000 });
}
