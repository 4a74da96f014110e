import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { ReplicasNotReachedError } from '../../lib/engine/errors/index.js';
import { newHolderId } from '../../lib/engine/locks/holder.js';
import type { LockStore } from '../../lib/engine/locks/lock-store.js';
import type { LockRequest } from '../../lib/engine/locks/lock-request.js';
import {
  READER,
  type RedisLockOptions,
  type Share,
  systemClock,
  NATIVE,
} from '../../lib/engine/options/index.js';
import { ClusterProcess } from '../../tools/redis-cluster.js';
import { closeAll, closing } from '../support/closing.js';
import type { Weather } from '../support/fault-proxy.js';
import { LockProcess } from '../support/lock-process.js';
import { StallingClock } from '../support/stalling-clock.js';
import { countTrials } from '../support/trials.js';
import { until } from '../support/until.js';
import { COMMAND_TIMEOUT, Pair, ways } from './replicated-pair.js';

const TRIALS = process.env['FULL'] ? 20 : 2;

afterEach(closeAll);

describe.each(Object.keys(ways))('a lock %s', (way) => {
  function lost(options: RedisLockOptions, weather?: Weather): Promise<number> {
    return countTrials(TRIALS, async () => {
      for (;;) {
        const pair = await Pair.start(weather);
        const lease = await ways[way]!(pair, options);
        const holders = await pair.holders(pair.control);
        await pair.failOver();
        const isLost = (await pair.holders(pair.standby)) !== holders;
        if (lease.held) return isLost; // else it may have ended by itself, and shows nothing
      }
    });
  }

  it('is lost in a failover before it was replicated', async () => {
    expect(await lost({}, { drop: true })).toBe(TRIALS);
  });

  it('is not lost when a replica has confirmed it', async () => {
    expect(await lost({ replicas: { acks: 1 } })).toBe(0);
  });
});

/** A process that asks for no replicas, and what it may ask for. */
async function asking(pair: Pair): Promise<{ lock: LockStore; ask: LockRequest }> {
  const lock = (await pair.client()).store;
  const holder = newHolderId(lock.processId);
  return {
    lock,
    ask: {
      key: 'k',
      holder,
      ttl: 5_000,
      tokenBlock: 1,
      format: NATIVE,
      queue: true,
      wanted: () => true,
    },
  };
}

describe('where too few replicas confirm', () => {
  it('nobody gets the lock, and it is given back', async () => {
    const pair = await Pair.start({});
    const clock = new StallingClock(systemClock);
    const client = await pair.client({ replicas: { acks: 2, timeout: 300 } }, clock);
    const asks = jest.spyOn(client.store, 'acquire');
    await until('the one replica confirms in time', async () => {
      asks.mockClear();
      const refused = client.acquire('k', { wait: 0 }).catch((error: unknown) => error);
      const ask = await until('it asks', () => asks.mock.results[0]);
      await Promise.allSettled([ask.value]);
      clock.pass(COMMAND_TIMEOUT); // it asks for no longer
      const refusal = await refused;
      expect(refusal).toBeInstanceOf(ReplicasNotReachedError);
      expect(refusal).toMatchObject({ code: 'REPLICAS_NOT_REACHED', key: 'k' });
      const { replicas } = refusal as ReplicasNotReachedError;
      expect(replicas).toMatchObject({ acks: 2, timeout: 300 });
      return replicas.reached === 1;
    });
    await until('it is given back', async () => (await pair.control.exists('lock:k')) === 0);
    clock.pass(COMMAND_TIMEOUT);
    await until('nothing is left to do', () => client.idle);
  });

  it.each<[string, Share | undefined]>([
    ['alone', undefined],
    ['shared', READER],
  ])(
    'a grant that another connection wrote is not confirmed by asking again: %s',
    async (_, share) => {
      const pair = await Pair.start({});
      const writer = await asking(pair);
      const ask: LockRequest = { ...writer.ask, share };
      const asker = await pair.client({ replicas: { acks: 1, timeout: 500 } });
      await asker.acquire('confirmed'); // what the asker wrote itself, the replica has
      pair.link.down = { drop: true };
      expect((await writer.lock.acquire(ask)).kind).toBe('held');
      const again = asker.store.acquire(ask);
      await expect(again).rejects.toBeInstanceOf(ReplicasNotReachedError);
    },
  );

  // From 7.2 on Redis, and Valkey, answer WAIT for a connection's own last write, not for what it has seen.
  it.each<[string, Partial<LockRequest>]>([
    ['alone', {}],
    ['shared', { share: READER }],
    ['a permit', { share: { permits: 2, count: 1 } }],
    ['after a condition', { condition: { name: 'c', over: false } }],
  ])('a grant that is answered again is written again: %s', async (_, kind) => {
    const pair = await Pair.start({});
    const { ask, lock } = await asking(pair);
    await lock.acquire(kind.condition ? ask : { ...ask, ...kind });
    const before = await pair.told();
    expect((await lock.acquire({ ...ask, ...kind })).kind).toBe('held');
    expect(await pair.told()).toBeGreaterThan(before);
  });

  it('a grant that is handed over again is written again', async () => {
    const pair = await Pair.start({});
    const { ask, lock } = await asking(pair);
    const successor = { ...ask, holder: `${ask.holder}-successor` };
    await lock.acquire(ask);
    await lock.transfer(ask, successor);
    const before = await pair.told();
    expect((await lock.transfer(ask, successor)).remaining).toBeGreaterThan(0);
    expect(await pair.told()).toBeGreaterThan(before);
  });

  it('a waiter goes on when the replica is back', async () => {
    const pair = await Pair.start({});
    const client = await pair.client({ replicas: { acks: 1, timeout: 500 }, ttl: 6_000 });
    pair.link.down = { drop: true };
    const asks = jest.spyOn(client.store, 'acquire');
    const lease = client.acquire('k', { wait: 20_000 });
    const ask = await until('it asks', () => asks.mock.results[0]);
    await expect(ask.value).rejects.toBeInstanceOf(ReplicasNotReachedError);
    pair.link.heal();
    pair.link.reset();
    expect((await lease).held).toBe(true);
  });

  it('a renewal does not count, and the lease ends in time', async () => {
    const pair = await Pair.start({});
    const clock = new StallingClock(systemClock);
    const ttl = 30_000;
    const client = await pair.client({ replicas: { acks: 1, timeout: 500 }, ttl }, clock);
    const lease = await client.acquire('k');
    const { expiresAt } = lease;
    pair.link.down = { drop: true };
    await expect(lease.extend()).rejects.toBeInstanceOf(ReplicasNotReachedError);
    expect(lease.held).toBe(true);
    expect(lease.expiresAt).toBe(expiresAt);
    const { signal } = lease;
    clock.pass(expiresAt - clock.wall());
    await until('it is over', () => signal.aborted);
    expect(lease.held).toBe(false);
    expect(signal.reason).toMatchObject({ code: 'LEASE_LOST' });
  });
});

it('in a Cluster, each primary asks its own replicas', async () => {
  const cluster = await ClusterProcess.start({ primaries: 1, replicas: 1 });
  closing.push(() => cluster.stop());
  const options: RedisLockOptions = {
    redis: { cluster: cluster.seeds },
    commandTimeout: COMMAND_TIMEOUT,
    replicas: { acks: 1, timeout: 500 },
  };
  const clock = new StallingClock(systemClock);
  const [one, other] = [new LockProcess(options, undefined, clock), new LockProcess(options)];
  closing.push(
    () => one.close(),
    () => other.close(),
  );
  await Promise.all([one.locks.open(), other.locks.open()]);
  const lease = await one.acquire('k');
  const next = other.acquire('k');
  expect(await lease.release()).toBe(true);
  await (await next).extend(); // from its first lease to a whole one
  expect((await next).held).toBe(true);
  cluster.replicas[0]!.signal('SIGSTOP');
  const asks = jest.spyOn(one.store, 'acquire');
  const refused = one.acquire('unconfirmed', { wait: 0 }).catch((error: unknown) => error);
  const ask = await until('it asks', () => asks.mock.results[0]);
  await Promise.allSettled([ask.value]);
  clock.pass(COMMAND_TIMEOUT); // it asks for no longer
  expect(await refused).toBeInstanceOf(ReplicasNotReachedError);
  await expect((await next).extend()).rejects.toBeInstanceOf(ReplicasNotReachedError);
  cluster.replicas[0]!.signal('SIGCONT');
  await until('it goes on', () => one.acquire('k2', { wait: 0 }).catch(() => undefined));
  expect((await next).held).toBe(true);
});
