import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createLock as createIoredisLock } from '@microfleet/ioredis-lock';
import { LockFactory } from '@verrou/core';
import { redisStore } from '@verrou/core/drivers/redis';
import { Redis } from 'ioredis';
import semaphore from 'redis-semaphore';
import Redlock4 from 'redlock-4';
import Redlock5 from 'redlock-5';
import type { LockDialect } from '../../../lib/engine/options/index.js';
import type { Peer } from './peer.js';

/** How to give a lock back; false or an error if it was not one's own any more. */
type Release = () => Promise<boolean>;
type Acquire = (name: string, ttl: number) => Promise<Release>;

/** A library for Node: `acquire` rejects where the lock is taken. */
function nodePeer(
  name: string,
  dialect: LockDialect,
  locksOn: (client: Redis) => Acquire,
  missing?: string,
): Peer {
  return {
    name,
    dialect,
    shortest: 50,
    missing,
    async connect(url) {
      const client = new Redis(url);
      const acquire = locksOn(client);
      const held = new Map<string, Release>();
      return {
        async acquire(lock, ttl) {
          try {
            held.set(lock, await acquire(lock, ttl));
            return true;
          } catch {
            return false;
          }
        },
        release: async (lock) => held.get(lock)!(),
        close: async () => client.disconnect(),
      };
    },
  };
}

export const nodePeers: readonly Peer[] = [
  nodePeer('redlock 4', 'redlock', (client) => {
    const redlock = new Redlock4([client], { retryCount: 0 });
    return async (name, ttl) => {
      const lock = await redlock.lock(name, ttl);
      return () =>
        lock.unlock().then(
          () => true,
          () => false,
        );
    };
  }),
  nodePeer('redlock 5', 'redlock', (client) => {
    const redlock = new Redlock5([client], { retryCount: 0 });
    return async (name, ttl) => {
      const lock = await redlock.acquire([name], ttl);
      return () =>
        lock.release().then(
          () => true,
          () => false,
        );
    };
  }),
  nodePeer(
    'redlock-universal',
    'redlock-universal',
    (client) => async (key, ttl) => {
      const { createLock, IoredisAdapter } = await import('redlock-universal');
      const adapter = IoredisAdapter.from(client);
      const lock = createLock({ adapter, key, ttl, retryAttempts: 0 });
      const handle = await lock.acquire();
      return () => lock.release(handle).catch(() => false);
    },
    // It wants Node 22, and is installed in test/bench by what needs it.
    existsSync('test/bench/node_modules/redlock-universal')
      ? undefined
      : 'it is not installed (npm ci in test/bench)',
  ),
  nodePeer('redis-semaphore', 'redis-semaphore', (client) => {
    return async (name, ttl) => {
      const mutex = new semaphore.Mutex(client, name, {
        lockTimeout: ttl,
        refreshInterval: 0,
        acquireAttemptsLimit: 1,
      });
      if (!(await mutex.tryAcquire())) throw new Error('busy');
      return async () => {
        const before = await client.get(`mutex:${name}`);
        await mutex.release();
        return before === mutex.identifier;
      };
    };
  }),
  // Written from its source, since it brings a Nest of its own: an id for each process, and these two commands.
  nodePeer('nestjs-simple-redis-lock', { name: 'plain', prefix: 'lock:' }, (client) => {
    const id = randomUUID();
    const unlock =
      "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";
    return async (name, ttl) => {
      const key = `lock:${name}`;
      if ((await client.set(key, id, 'PX', ttl, 'NX')) === null) throw new Error('busy');
      return async () => (await client.eval(unlock, 1, key, id)) === 1;
    };
  }),
  nodePeer('@verrou/core', 'verrou', (client) => {
    const factory = new LockFactory(redisStore({ connection: client }).factory());
    return async (name, ttl) => {
      const lock = factory.createLock(name, ttl);
      if (!(await lock.acquireImmediately())) throw new Error('busy');
      return () =>
        lock.release().then(
          () => true,
          () => false,
        );
    };
  }),
  nodePeer('@microfleet/ioredis-lock', 'ioredis-lock', (client) => {
    return async (name, ttl) => {
      const lock = createIoredisLock(client, { timeout: ttl, retries: 0 });
      await lock.acquire(name);
      return () =>
        lock.release().then(
          () => true,
          () => false,
        );
    };
  }),
];
