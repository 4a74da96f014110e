import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { RedisProcess } from '../../tools/redis-server.js';
import { fencedWrite } from '../support/fenced-store.js';
import { LockClient } from '../support/lock-client.js';
import { Observer } from '../support/observer.js';
import { until } from '../support/until.js';
import { Worker } from '../support/worker.js';

const TRIES = process.env['FULL'] ? 100 : 2;
const TTL = 2_000;

let redis: RedisProcess;
let observer: Observer;
let stalled: Worker;
let other: LockClient;
beforeAll(async () => {
  redis = await RedisProcess.start();
  observer = new Observer(redis.url);
  other = new LockClient({ redis: redis.url });
  stalled = await Worker.start({ redis: redis.url });
});
afterAll(async () => {
  await stalled.kill();
  await other.close();
  observer.close();
  await redis.stop();
});

/** Nothing of the stalled process runs any more. */
async function settled(): Promise<void> {
  await until('the stalled process has given up', async () => {
    const { held, watched, leaving } = await stalled.call('load');
    return held + watched + leaving === 0;
  });
}

/** Stops the process inside a critical section until its lease is over; `resume` tells how its first look at it ends. */
async function stopInside(key: string): Promise<{
  lease: number;
  token: number;
  resume: () => Promise<string>;
}> {
  const { lease, token } = await stalled.call('acquire', key, { ttl: TTL });
  const { spinning, outcome } = stalled.spin(lease, TTL / 2);
  await spinning;
  stalled.signal('SIGSTOP');
  const stoppedAt = performance.now();
  await until('the lease is over and the stop was long', async () => {
    return (await observer.holder(key)) === null && performance.now() - stoppedAt > TTL / 2 + 50;
  });
  const resume = (): Promise<string> => {
    stalled.signal('SIGCONT');
    return outcome;
  };
  return { lease, token, resume };
}

it(`a holder stopped past its ttl knows at its first look, ${TRIES} times of ${TRIES}`, async () => {
  for (let turn = 0; turn < TRIES; turn += 1) {
    const { lease, resume } = await stopInside('free');
    expect(await resume()).toBe('LeaseLostError');
    await settled();
    expect(await observer.holder('free')).toBeNull();
    expect((await stalled.call('release', lease)).released).toBe(false);
  }
});

it('a holder whose lock was taken while he was stopped disturbs nobody, and his writes are refused', async () => {
  for (let turn = 0; turn < TRIES; turn += 1) {
    const { lease, token, resume } = await stopInside('taken');
    const taken = await other.acquire('taken');
    expect(taken.fencingToken).toBeGreaterThan(token);
    expect(await fencedWrite(observer.redis, 'resource', taken.fencingToken, 'new')).toBe(true);
    const holder = await observer.holder('taken');
    expect(await resume()).toBe('LeaseLostError');
    expect(await stalled.call('write', lease, 'resource', 'stale')).toBe(false);
    expect((await stalled.call('release', lease)).released).toBe(false);
    await settled();
    expect(await observer.holder('taken')).toBe(holder);
    expect(taken.held).toBe(true);
    expect(await taken.release()).toBe(true);
  }
  expect(await observer.redis.hget('resource', 'value')).toBe('new');
});

it('a holder stopped between two renewals brings nothing back when it goes on', async () => {
  for (let turn = 0; turn < TRIES / 2; turn += 1) {
    const key = `idle-${turn}`;
    const { lease } = await stalled.call('acquire', key, { ttl: TTL });
    await new Promise((resolve) => setTimeout(resolve, Math.random() * TTL));
    stalled.signal('SIGSTOP');
    await until('the lease is over', async () => (await observer.holder(key)) === null);
    stalled.signal('SIGCONT');
    expect(await stalled.call('held', lease)).toBe(false);
    await settled();
    expect(await observer.holder(key)).toBeNull();
  }
});

it('a holder stopped for less than its ttl still holds', async () => {
  const { lease } = await stalled.call('acquire', 'short', { ttl: 2_000 });
  stalled.signal('SIGSTOP');
  await until('a part of the lease is over', async () => {
    return (await observer.redis.pttl('lock:short')) < 1_500;
  });
  stalled.signal('SIGCONT');
  expect(await stalled.call('held', lease)).toBe(true);
  await until('it is renewed', async () => (await observer.redis.pttl('lock:short')) > 1_500);
  expect((await stalled.call('release', lease)).released).toBe(true);
});
