import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
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

Logger.overrideLogger(false);

let runs = 0;

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

describe('an outage in the log', () => {
  it('is a warning that names the address, and a line when it is over; a shutdown is none', async () => {
    const lines: string[] = [];
    const spies = (['log', 'warn'] as const).map((level) =>
      jest
        .spyOn(Logger.prototype, level)
        .mockImplementation((line) => void lines.push(`${level} ${line}`)),
    );
    const bench = await NestBench.start();
    const redis = await RedisProcess.start();
    const app = await bench.app({ providers: [Mails] }, { redis: redis.url, wait: 0 });
    const mails = app.get(Mails);
    const where = `127\\.0\\.0\\.1:${redis.port}/0`;
    const said = (text: RegExp): number => lines.filter((line) => text.test(line)).length;
    const lost = new RegExp(
      `^warn Redis at ${where} is not connected any more( \\([A-Z]+\\))?; reconnecting\\. Locks that are held last for the rest of their leases\\.$`,
    );
    const back = new RegExp(`^log Redis at ${where} is connected again after \\d+ m?s\\.$`);
    await redis.kill();
    await until('the loss is said', () => said(lost) > 0);
    const refused = new RegExp(
      `^The lock store failed for lock "mail:1": Redis at ${where} is not connected \\(ECONNREFUSED\\)\\.$`,
    );
    await until('a call says the address and the cause', () =>
      mails.strict('1').catch((error: Error) => refused.test(error.message)),
    );
    await redis.run();
    await until('the return is said', () => said(back) > 0);
    await bench.stop();
    await redis.stop();
    for (const spy of spies) spy.mockRestore();
    expect([said(lost), said(back), said(/not connected|connected again/)]).toEqual([1, 1, 2]);
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
