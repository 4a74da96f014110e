import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable, Logger } from '@nestjs/common';
import { Redis } from 'ioredis';
import {
  CurrentLease,
  ForeignLockError,
  Lease,
  Locked,
  LockNotAcquiredError,
  LockStoreError,
} from '../../lib/index.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { NestBench } from '../support/nest-app.js';
import { until } from '../support/until.js';

let runs = 0;

@Injectable()
class Mails {
  @Locked('mail:<id>')
  async strict(id: string): Promise<string> {
    runs += 1;
    return id;
  }

  @Locked('mail:<id>', { onUnavailable: 'proceed', wait: 0 })
  async anyway(id: string, @CurrentLease() lease?: Lease): Promise<string> {
    runs += 1;
    return `${id} ${lease?.key}`;
  }
}

describe('a method under @Locked while Redis is down', () => {
  let bench: NestBench;
  let redis: RedisProcess;
  let mails: Mails;
  beforeAll(async () => {
    bench = await NestBench.start();
    redis = await RedisProcess.start();
    const options = { redis: redis.url, commandTimeout: '200ms' } as const;
    mails = (await bench.app({ providers: [Mails] }, options)).get(Mails);
    await redis.kill();
  });
  afterAll(async () => {
    await bench.stop();
    await redis.stop();
  });

  it('does not run, and says that Redis failed', async () => {
    runs = 0;
    const error: unknown = await mails.strict('1').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(LockStoreError);
    expect(error).toMatchObject({ code: 'LOCK_STORE', key: 'mail:1' });
    expect(runs).toBe(0);
  });

  it('runs without a lease under onUnavailable proceed', async () => {
    expect(await mails.anyway('1')).toBe('1 undefined');
  });

  it('runs again when Redis is back', async () => {
    await redis.run();
    await until('Redis can be used', () => mails.strict('1').catch(() => false));
    expect(await mails.anyway('1')).toBe('1 mail:1');
  });
});

describe('onUnavailable proceed', () => {
  it('never runs while another holds the lock, or over what is no lock', async () => {
    const bench = await NestBench.start();
    const mails = (await bench.app({ providers: [Mails] })).get(Mails);
    const client = new Redis(bench.redis.url);
    runs = 0;
    await client.hset('lock:mail:foreign', 'a', 'b');
    await expect(mails.anyway('foreign')).rejects.toThrow(ForeignLockError);
    await client.set('lock:mail:other', 'a lock of another library');
    await expect(mails.anyway('other')).rejects.toThrow(LockNotAcquiredError);
    const lease = await (await bench.rival()).acquire('mail:held');
    await expect(mails.anyway('held')).rejects.toThrow(LockNotAcquiredError);
    await lease.release();
    expect(runs).toBe(0);
    expect(await client.hgetall('lock:mail:foreign')).toEqual({ a: 'b' });
    expect(await client.get('lock:mail:other')).toBe('a lock of another library');
    client.disconnect();
    await bench.stop();
  });
});

Logger.overrideLogger(false);
