import { describe, expect, it } from '@jest/globals';
import type { LockDialect } from '../../lib/index.js';
import type { Lease } from '../../lib/engine/client/leases/lease.js';
import { FaultProxy } from '../support/fault-proxy.js';
import type { LockProcess } from '../support/lock-process.js';
import { until } from '../support/until.js';
import { patientClock } from './endless-pauses.js';
import { RedissonThread } from './peers/redisson.js';
import { had, Sides } from './sides.js';

const sides = new Sides();

/** Ends every connection of ours that listens. */
function cut(): Promise<unknown> {
  return sides.theirs.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
}

const ways = [
  {
    dialect: 'redisson',
    channel: 'redisson_lock__channel:{k}',
    take: (java: RedissonThread) => java.lock('k', 30_000),
    giveBack: (java: RedissonThread) => java.unlock('k'),
  },
  {
    dialect: { name: 'redisson', kind: 'readWrite' },
    channel: 'redisson_rwlock:{k}',
    take: (java: RedissonThread) => java.write('k', 30_000),
    giveBack: (java: RedissonThread) => java.unwrite('k'),
  },
] as const;

describe.each(ways)('who waits in dialect $dialect', ({ dialect, channel, take, giveBack }) => {
  it('has the lock when the other side tells that it is free, without asking', async () => {
    const { java, lease } = await waiting(patient());
    await giveBack(java);
    expect((await had(lease)).held).toBe(true);
  });

  it('hears again when the connection was lost', async () => {
    const { java, lease } = await waiting(patient());
    await cut();
    await until('we listen again', async () => (await sides.listeners(channel)) === 1);
    await giveBack(java);
    expect((await had(lease)).held).toBe(true);
  });

  it('asks when it may have missed it', async () => {
    const { java, lease } = await waiting(patient());
    await Promise.all([cut(), giveBack(java)]);
    expect((await had(lease)).held).toBe(true);
  });

  it('misses no message that comes while it asks', async () => {
    const proxy = sides.closing(await FaultProxy.before(sides.redis.port), (one) => one.close());
    const us = patient(proxy.url);
    const { java, lease } = await waiting(us);
    await giveBack(java);
    await (await had(lease)).release();
    await take(java);
    for (const link of proxy.links) if (!link.subscriber) link.down = { delay: 100 };
    const asked = proxy.once(([command]) => command === 'evalsha', 'pass');
    const next = us.acquire('k');
    await asked;
    await giveBack(java); // it is heard before the answer to the ask
    expect((await had(next)).held).toBe(true);
  });

  it('has its turn among others who wait', async () => {
    const clients = [patient(), patient(), patient()];
    const turns = clients.map(async (us) => {
      for (let nth = 0; nth < 40; nth += 1) {
        const lease = await had(us.acquire('k'));
        await lease.release();
      }
    });
    await Promise.all(turns);
  });

  it('asks seldom, and leaves no subscription behind', async () => {
    const { java, lease } = await waiting(sides.client({ dialect }));
    const before = await sides.calls('evalsha');
    const over = performance.now() + 3_000;
    await until('3 s are over', () => performance.now() > over);
    const asked = (await sides.calls('evalsha')) - before;
    expect(asked).toBeGreaterThan(1);
    expect(asked).toBeLessThan(10);
    await giveBack(java);
    await (await had(lease)).release();
    await until('nobody listens', async () => (await sides.listeners(channel)) === 0);
  });

  /** They have the lock, and we wait for it and listen. */
  async function waiting(
    us: LockProcess,
  ): Promise<{ java: RedissonThread; lease: Promise<Lease> }> {
    const java = new RedissonThread(sides.theirs);
    await take(java);
    const lease = us.acquire('k');
    await until('we listen', async () => (await sides.listeners(channel)) === 1);
    return { java, lease };
  }

  function patient(redis = sides.redis.url): LockProcess {
    return sides.client({ redis, dialect }, { clock: patientClock });
  }
});

describe('where the other side cannot be heard', () => {
  async function lockOfTheirs(us: LockProcess): Promise<void> {
    const java = new RedissonThread(sides.theirs);
    await java.lock('k', 30_000);
    const lease = us.acquire('k');
    await us.waiting('k');
    await java.unlock('k');
    expect((await had(lease)).held).toBe(true);
  }

  it('because the user has no right to its channel, who waits goes on asking', async () => {
    const rights = ['on', 'nopass', '~*', '+@all', 'resetchannels', '&lock:inbox:*'];
    await sides.theirs.call('ACL', 'SETUSER', 'deaf', ...rights);
    const redis = { port: sides.redis.port, username: 'deaf', password: 'x' };
    const us = sides.client({ redis, dialect: 'redisson' }, { clock: patientClock });
    await lockOfTheirs(us);
    const native = await us.acquire('n', { dialect: 'native' });
    const next = us.acquire('n', { dialect: 'native' });
    await until('it waits', async () => {
      return (await us.locks.inspect('n', 0)).waiting === 1;
    });
    await native.release();
    expect((await had(next)).held).toBe(true);
  });

  it('because it tells by a sharded channel, it does so too', async () => {
    const dialect: LockDialect = { name: 'redisson', sharded: true };
    await lockOfTheirs(sides.client({ dialect }, { clock: patientClock }));
  });
});
