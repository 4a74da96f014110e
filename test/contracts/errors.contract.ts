import { expect } from '@jest/globals';
import {
  ForeignLockError,
  LockNotAcquiredError,
  LockStoreError,
} from '../../lib/engine/errors/index.js';
import { withLease } from '../../lib/nest/services/run-under-lease.js';
import { atMost, COMMAND } from '../support/bounds.js';
import type { Contract } from '../support/contract.js';
import { later } from '../support/later.js';
import { type Wrap, withSteps } from '../support/world.js';

export const errors: Contract = {
  async 'a foreign string is contention: it is waited for, and never touched'(world) {
    const a = await world.client();
    await world.plant('k', 'string');
    expect((await a.try(a.request())).kind).toBe('busy');
    const { request, entry } = await a.queue();
    expect(entry.remaining).toBeLessThan(0);
    expect(await a.lock.release(request, 0)).toBe(false);
    expect((await a.lock.extend([request])).remaining).toEqual(['taken']);
    expect(await a.lock.leave(request)).toBe(false);
    expect(await world.snapshot()).toMatchObject({
      type: 'string',
      holder: 'somebody else’s',
      remaining: -1,
    });
  },

  async 'a caller waits for a foreign string as for any lock'(world) {
    const process = await world.process();
    await world.plant('k', 'string');
    await expect(process.acquire({ wait: 0 })).rejects.toThrow(LockNotAcquiredError);
    await expect(world.finish(process.acquire({ wait: 50 }))).rejects.toThrow(LockNotAcquiredError);
    expect(await world.holder()).toBe('somebody else’s');
  },

  async 'what is no lock at all is an error that names it, and is left as it is'(world) {
    const [client, process] = [await world.client(), await world.process()];
    for (const type of ['hash', 'list', 'set', 'zset', 'stream']) {
      await world.plant(type, type);
      const request = client.request({ key: type });
      await expect(client.ask(request)).rejects.toMatchObject({ code: 'FOREIGN_LOCK', type });
      await expect(client.try(request)).rejects.toThrow(ForeignLockError);
      await expect(client.lock.force(type)).rejects.toThrow(ForeignLockError);
      await expect(process.acquire({ key: type })).rejects.toThrow(ForeignLockError);
      expect(await client.lock.release(request, 0)).toBe(false);
      expect(await client.lock.leave(request)).toBe(false);
      expect((await client.lock.extend([request])).remaining).toEqual(['taken']);
      expect(await world.snapshot(type)).toMatchObject({ type, waiting: 0 });
    }
  },

  async 'a store that does not answer is an error of its own, in bounded time'(world) {
    const process = await world.process({ commandTimeout: COMMAND });
    await world.pause();
    const from = process.clock.monotonic();
    const waiting = later(process.acquire());
    await world.pass(COMMAND);
    await expect(world.finish(waiting)).rejects.toThrow(LockStoreError);
    expect(process.clock.monotonic() - from).toBeLessThan(atMost(world, COMMAND + 250));
    let ran = false;
    const { call } = process.settings;
    const locked = later(withLease(process.locks.acquire('k', call), () => void (ran = true)));
    await world.pass(COMMAND);
    await expect(world.finish(locked)).rejects.toThrow(LockStoreError);
    expect(ran).toBe(false);
    await world.resume();
    await world.until('nothing is held', async () => (await world.snapshot()).type === 'none');
  },

  async 'who waits without end goes on waiting where its first ask failed'(world) {
    let failures = 0;
    const failsFirst: Wrap = (store) =>
      withSteps(store, {
        acquire: (ask) => {
          failures += 1;
          if (failures > 1) return store.acquire(ask);
          const lost = { outcome: 'unsent', retryable: true } as const;
          return Promise.reject(new LockStoreError('Redis is not connected.', lost));
        },
      });
    const [a, b] = [await world.process(), await world.process({}, failsFirst)];
    const lease = await a.acquire();
    let left = false;
    const waiting = later(b.acquire({ wait: Infinity }).finally(() => (left = true)));
    await world.until('it waits', async () => {
      await world.pass(100);
      return failures > 1 && (await world.snapshot()).waiting === 1;
    });
    await world.pass(b.settings.commandTimeout + 500);
    expect(left).toBe(false);
    await lease.release();
    await (await world.finish(waiting)).release();
  },

  async 'a store that is closed is an error of its own'(world) {
    const a = await world.client();
    const { request } = await a.hold();
    await a.store.close();
    for (const step of [
      a.ask(a.request()),
      a.lock.release(request, 0),
      a.lock.leave(request),
      a.lock.extend([request]),
      a.lock.force('k'),
    ]) {
      await expect(step).rejects.toMatchObject({ code: 'LOCK_STORE', outcome: 'unsent' });
    }
  },
};

export const errorsOnRedis: Contract = {
  async 'without memory nobody gets a lock, and nothing is written'(world) {
    const { control } = world.redis!;
    const [a, process] = [await world.client(), await world.process()];
    await control.config('SET', 'maxmemory', '1');
    try {
      await expect(a.ask(a.request())).rejects.toThrow('OOM');
      await expect(a.try(a.request())).rejects.toThrow(LockStoreError);
      const waiting = later(process.acquire({ wait: 100 }));
      await world.pass(COMMAND);
      await expect(waiting).rejects.toThrow(LockStoreError);
      expect(await world.keys()).toEqual([]);
    } finally {
      await control.config('SET', 'maxmemory', '0');
    }
  },

  async 'without memory a waiter is refused, who holds the lock keeps it and gives it back'(world) {
    const { control } = world.redis!;
    const a = await world.client();
    const { request } = await a.hold();
    await control.config('SET', 'maxmemory', '1');
    try {
      await expect(a.ask(a.request())).rejects.toThrow('OOM');
      expect((await a.lock.extend([request])).remaining).toEqual([5_000]);
      expect(await a.lock.release(request, 0)).toBe(true);
    } finally {
      await control.config('SET', 'maxmemory', '0');
    }
  },

  async 'without the right to publish or to listen, start-up fails and says so'(world) {
    const { control } = world.redis!;
    const rights = ['on', 'nopass', '~*', '+@all', 'resetchannels']; // Redis 6.2 gives all channels to a new user
    await control.call('ACL', 'SETUSER', 'deaf', 'reset', ...rights);
    const { host, port } = control.options;
    await expect(world.process({ redis: `redis://deaf:secret@${host}:${port}` })).rejects.toThrow(
      'NOPERM',
    );
    await control.call('ACL', 'DELUSER', 'deaf');
  },

  async 'a foreign type at one of the lock’s other keys is an error, and leaves nobody a lock'(
    world,
  ) {
    const { control, prefix } = world.redis!;
    const process = await world.process();
    for (const [other, key] of [
      [`{${prefix}k1}:queue`, 'k1'],
      [`${prefix}{}:fence`, 'k2'],
    ] as const) {
      await control.hset(other, 'a', '1');
      await expect(process.acquire({ key })).rejects.toThrow(ForeignLockError);
      await world.until('nobody has the lock', async () => {
        return (await control.exists(prefix + key)) === 0;
      });
    }
  },
};
