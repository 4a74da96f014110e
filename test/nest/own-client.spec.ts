import { describe, expect, it } from '@jest/globals';
import { Redis, type RedisOptions } from 'ioredis';
import { LockService } from '../../lib/index.js';
import { useBench } from '../support/nest-app.js';
import { until } from '../support/until.js';

const bench = useBench();

describe('a client of the application', () => {
  const settings = (): RedisOptions => ({
    port: bench.redis.port,
    db: 3,
    keyPrefix: 'app:',
    commandTimeout: 5_000,
    enableAutoPipelining: true,
    maxRetriesPerRequest: 1,
  });

  it('is copied: same server, db and prefix; itself neither used, altered nor closed', async () => {
    const client = new Redis(settings());
    await client.ping();
    const before = {
      options: { ...client.options },
      listeners: client.eventNames().map((name) => [name, client.listenerCount(name)]),
    };
    const app = await bench.app({}, { redis: client });
    const lease = await app.get(LockService).acquire('mine');
    const other = new Redis({ port: bench.redis.port, db: 3 });
    expect(await other.exists('app:lock:mine')).toBe(1);
    expect(await client.exists('lock:mine')).toBe(1);
    expect(await lease.release()).toBe(true);
    await app.close();
    expect(client.status).toBe('ready');
    expect({ ...client.options }).toEqual(before.options);
    expect(client.eventNames().map((name) => [name, client.listenerCount(name)])).toEqual(
      before.listeners,
    );
    expect(await client.ping()).toBe('PONG');
    client.disconnect();
    other.disconnect();
  });

  it('that shows all commands of Redis, and its options, make no connection do so', async () => {
    const redis = { port: bench.redis.port, monitor: true };
    const client = new Redis(redis);
    await until('the client shows commands', () => (client.status as string) === 'monitoring');
    for (const source of [client, redis]) {
      const app = await bench.app({}, { redis: source });
      expect(await app.get(LockService).withLock('watched', () => 'done')).toBe('done');
      await app.close();
    }
    client.disconnect();
  });

  it('that is lazy stays unconnected', async () => {
    const client = new Redis({ ...settings(), lazyConnect: true });
    const app = await bench.app({}, { redis: client });
    await app.get(LockService).withLock('lazy', () => undefined);
    expect(client.status).toBe('wait');
    await app.close();
  });
});
