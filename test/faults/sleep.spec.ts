import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Lease } from '../../lib/engine/client/leases/lease.js';
import type { SingleLease } from '../../lib/engine/client/leases/single-lease.js';
import { systemClock } from '../../lib/engine/options/index.js';
import { Condition } from '../../lib/nest/services/condition.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { Gate } from '../support/gate.js';
import { LockProcess } from '../support/lock-process.js';
import { Observer } from '../support/observer.js';
import { StallingClock } from '../support/stalling-clock.js';
import { until } from '../support/until.js';

/** Longer than any lease here, in ms. */
const NIGHT = 60_000;

let redis: RedisProcess;
let observer: Observer;
let proxy: FaultProxy;
let clock: StallingClock;
/** The process whose machine sleeps. */
let sleeper: LockProcess;
let other: LockProcess;
beforeAll(async () => {
  redis = await RedisProcess.start();
  observer = new Observer(redis.url);
});
beforeEach(async () => {
  await observer.redis.flushall();
  await startBoth();
});
afterEach(async () => {
  proxy.heal();
  await Promise.all([sleeper.close(), other.close()]);
  await proxy.close();
});
afterAll(async () => {
  observer.close();
  await redis.stop();
});

it.each([true, false])(
  'a pushed grant that is read after a sleep is asked for again (renew: %s)',
  async (renew) => {
    const held = await other.acquire('k');
    let woken: Lease | undefined;
    const waiting = sleeper.acquire('k', { ttl: '30s', renew }).then((lease) => (woken = lease));
    await sleeper.waiting('k');
    const thief = await overNight(() => held.release());
    await until('the sleeper has asked and waits', async () => (await observer.waiting('k')) === 1);
    expect(woken).toBeUndefined();
    await thief.release();
    expect((await waiting).held).toBe(true);
  },
);

it('a signalled wake-up that is read after a sleep is asked for again', async () => {
  const met = ({ locks }: LockProcess, lease: Lease): Condition =>
    new Condition(locks.conditions, lease as SingleLease, 'met');
  const lease = await sleeper.acquire('k', { ttl: '30s', renew: false });
  let woken = false;
  const waiting = met(sleeper, lease)
    .await()
    .then(() => (woken = true));
  await until('it is given back', async () => (await observer.redis.exists('lock:k')) === 0);
  const held = await other.acquire('k');
  const thief = await overNight(async () => {
    await met(other, held).signal();
    await held.release();
  });
  await until('the sleeper has asked and waits', async () => (await observer.waiting('k')) === 1);
  expect([woken, lease.held]).toEqual([false, false]);
  await thief.release();
  await waiting;
  expect(lease.held).toBe(true);
});

it('after a sleep that the server’s clock went on through, all steps still come in time', async () => {
  const timeout = 1_000;
  const short = new LockProcess({ redis: redis.url, commandTimeout: timeout }, undefined, clock);
  await short.locks.open();
  try {
    const text = await (await other.acquire('k', { ttl: '30s' })).handOver();
    clock.fallAsleep();
    await new Promise((resolve) => setTimeout(resolve, 1.5 * timeout));
    clock.wake();
    const restored = await short.restore(text);
    expect(restored.held).toBe(true);
    clock.fallAsleep();
    await new Promise((resolve) => setTimeout(resolve, 1.5 * timeout));
    clock.wake();
    const again = await other.restore(await restored.handOver());
    expect(again.held).toBe(true);
    clock.fallAsleep();
    await new Promise((resolve) => setTimeout(resolve, 1.5 * timeout));
    clock.wake();
    expect((await short.acquire('another')).held).toBe(true);
    await again.release();
  } finally {
    await short.close();
  }
});

async function startBoth(): Promise<void> {
  proxy = await FaultProxy.before(redis.port);
  clock = new StallingClock(systemClock);
  sleeper = new LockProcess({ redis: proxy.url }, undefined, clock);
  other = new LockProcess({ redis: redis.url });
  await sleeper.locks.open();
  await other.locks.open();
}

/** What the server pushes is read only when the machine has slept over its lease, and another has the lock. */
async function overNight(push: () => Promise<unknown>): Promise<Lease> {
  const morning = new Gate();
  proxy.down = { until: morning.opened };
  await push();
  await until('the sleeper is granted the lock', sleeperHolds);
  clock.sleep(NIGHT);
  await observer.redis.del('lock:k');
  const thief = await other.acquire('k', { ttl: 10 * NIGHT, wait: 0 });
  proxy.heal();
  morning.open();
  return thief;
}

/** Whether the sleeper's process stands at the lock. */
async function sleeperHolds(): Promise<boolean> {
  const holder = await observer.redis.get('lock:k');
  return holder?.startsWith(sleeper.store.processId) ?? false;
}
