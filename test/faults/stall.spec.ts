import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { RedisProcess } from '../../tools/redis-server.js';
import { fencedWrite } from '../support/fenced-store.js';
import { LockProcess } from '../support/lock-process.js';
import { Observer } from '../support/observer.js';
import { until } from '../support/until.js';
import { Worker } from '../support/worker.js';

/** Each in a process of its own, which waits for the most part. */
const [AT_ONCE, TRIES] = process.env['FULL'] ? [9, 4] : [3, 1];
const TTL = 2_000;

let redis: RedisProcess;
let observer: Observer;
let stalled: Worker[];
let other: LockProcess;
beforeAll(async () => {
  redis = await RedisProcess.start();
  observer = new Observer(redis.url);
  other = new LockProcess({ redis: redis.url });
  stalled = await Worker.startMany(AT_ONCE, { redis: redis.url });
});
afterAll(async () => {
  await Promise.all(stalled.map((worker) => worker.kill()));
  await other.close();
  observer.close();
  await redis.stop();
});

it(`a holder stopped past its ttl knows at its first look, ${AT_ONCE * TRIES} times of ${AT_ONCE * TRIES}`, () =>
  inEach(async (worker, key) => {
    const { lease, resume } = await stopInside(worker, key);
    expect(await resume()).toBe('LeaseLostError');
    await settled(worker);
    expect(await observer.holder(key)).toBeNull();
    expect((await worker.call('release', lease)).released).toBe(false);
  }));

it('a holder whose lock was taken while it was stopped disturbs nobody, and its writes are refused', () =>
  inEach(async (worker, key) => {
    const { lease, token, resume } = await stopInside(worker, key);
    const taken = await other.acquire(key);
    expect(taken.fencingToken).toBeGreaterThan(token);
    const resource = `resource-${key}`;
    expect(await fencedWrite(observer.redis, resource, taken.fencingToken, 'new')).toBe(true);
    const holder = await observer.holder(key);
    expect(await resume()).toBe('LeaseLostError');
    expect(await worker.call('write', lease, resource, 'stale')).toBe(false);
    expect((await worker.call('release', lease)).released).toBe(false);
    await settled(worker);
    expect(await observer.holder(key)).toBe(holder);
    expect(taken.held).toBe(true);
    expect(await taken.release()).toBe(true);
    expect(await observer.redis.hget(resource, 'value')).toBe('new');
  }));

it('a holder stopped between two renewals brings nothing back when it goes on', () =>
  inEach(async (worker, key) => {
    const { lease } = await worker.call('acquire', key, { ttl: TTL });
    await new Promise((resolve) => setTimeout(resolve, Math.random() * TTL));
    worker.signal('SIGSTOP');
    await until('the lease is over', async () => (await observer.holder(key)) === null);
    worker.signal('SIGCONT');
    expect(await worker.call('held', lease)).toBe(false);
    await settled(worker);
    expect(await observer.holder(key)).toBeNull();
  }));

it('a holder stopped for less than its ttl still holds', () =>
  inEach(async (worker, key) => {
    const { lease } = await worker.call('acquire', key, { ttl: 6_000 });
    const left = (): Promise<number> => observer.redis.pttl(`lock:${key}`);
    worker.signal('SIGSTOP');
    await until('a part of the lease is over', async () => (await left()) < 5_000);
    worker.signal('SIGCONT');
    expect(await worker.call('held', lease)).toBe(true);
    await until('it is renewed', async () => (await left()) > 5_000);
    expect((await worker.call('release', lease)).released).toBe(true);
  }));

/** Stops the process inside a critical section until its lease is over; `resume` tells how its first look at it ends. */
async function stopInside(
  worker: Worker,
  key: string,
): Promise<{
  lease: number;
  token: number;
  resume: () => Promise<string>;
}> {
  const { lease, token } = await worker.call('acquire', key, { ttl: TTL });
  const { spinning, outcome } = worker.spin(lease, TTL / 2);
  await spinning;
  worker.signal('SIGSTOP');
  const stoppedAt = performance.now();
  await until('the lease is over and the stop was long', async () => {
    return (await observer.holder(key)) === null && performance.now() - stoppedAt > TTL / 2 + 50;
  });
  const resume = (): Promise<string> => {
    worker.signal('SIGCONT');
    return outcome;
  };
  return { lease, token, resume };
}

/** Nothing of the stalled process runs any more. */
async function settled(worker: Worker): Promise<void> {
  await until('the stalled process has given up', async () => {
    const { held, watched, leaving } = await worker.call('load');
    return held + watched + leaving === 0;
  });
}

/** Runs `trial` so many times in each of the processes, with a lock of its own; resolves when all have ended. */
async function inEach(trial: (worker: Worker, key: string) => Promise<void>): Promise<void> {
  await Promise.all(
    stalled.map(async (worker, at) => {
      for (let turn = 0; turn < TRIES; turn += 1) await trial(worker, `${at}-${turn}`);
    }),
  );
}
