import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { LockClient } from '../../lib/engine/client/lock-client.js';
import { RedisLockStore } from '../../lib/engine/locks/lock/redis-lock-store.js';
import { QuorumLockStore } from '../../lib/engine/locks/quorum/quorum-lock-store.js';
import {
  moduleSettings,
  type RedisLockOptions,
  systemClock,
} from '../../lib/engine/options/index.js';
import { slotTagOf } from '../../lib/engine/redis/cluster/slot-map.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { LockProcess } from '../support/lock-process.js';
import { until } from '../support/until.js';

let redis: RedisProcess;
let another: RedisProcess;
let control: Redis;
let clients: LockProcess[];
beforeEach(async () => {
  redis = await RedisProcess.start({ args: ['--cluster-enabled', 'yes'] });
  another = await RedisProcess.start();
  control = new Redis(redis.url);
  clients = [];
  await control.cluster('ADDSLOTS', ...Array.from({ length: 16_384 }, (_, slot) => slot));
  await until('it serves them', async () => /cluster_state:ok/.test(await control.cluster('INFO')));
});
afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  control.disconnect();
  await redis.stop();
  await another.stop();
});

async function client(url = redis.url): Promise<LockProcess> {
  const made = new LockProcess({ redis: url });
  clients.push(made);
  await made.locks.open();
  return made;
}

describe('a node that has all slots of a Cluster, given as one Redis', () => {
  it('counts tokens by slots, also for a user who may not see its INFO', async () => {
    await control.call('ACL', 'SETUSER', 'blind', 'on', '>secret', '~*', '&*', '+@all', '-info');
    const blind = new URL(redis.url);
    [blind.username, blind.password] = ['blind', 'secret'];
    const both = [await client(), await client(blind.href)];
    const names = ['a', 'b', '{account}:42'];
    for (const name of names) {
      let last = 0;
      for (const each of [...both, ...both]) {
        const lease = await each.acquire(name);
        expect(lease.fencingToken).toBeGreaterThan(last);
        last = lease.fencingToken;
        await lease.release();
      }
      expect(await control.get(`lock:{${slotTagOf(`lock:${name}`)}}:fence`)).toBe(String(last));
    }
    expect(await control.dbsize()).toBe(names.length);
  });

  it.each([
    ['alone', RedisLockStore, (): RedisLockOptions => ({ redis: redis.url })],
    ['in a quorum', QuorumLockStore, (): RedisLockOptions => ({ nodes: [redis.url, another.url] })],
  ])('%s, has leases of several slots renewed after a reconnect', async (_, Store, options) => {
    const settings = moduleSettings(options());
    const locks = new LockClient(new Store(settings, systemClock), settings, systemClock);
    try {
      const leases = await Promise.all(['a', 'b'].map((key) => locks.acquire(key, settings.call)));
      const before = leases.map(({ expiresAt }) => expiresAt);
      await control.call('CLIENT', 'KILL', 'TYPE', 'normal');
      await until('both are renewed', () =>
        leases.every(({ expiresAt }, nth) => expiresAt > before[nth]!),
      );
      for (const lease of leases) expect(await lease.release()).toBe(true);
    } finally {
      await locks.close();
    }
  });
});
