import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Redis } from 'ioredis';
import {
  CurrentLease,
  Lease,
  Locked,
  LockNotAcquiredError,
  LockOptionsError,
  LockService,
  RedisLockModule,
} from '../../lib/index.js';
import { NestBench } from '../support/nest-app.js';

let bench: NestBench;
let theirs: Redis;
beforeAll(async () => {
  bench = await NestBench.start();
  theirs = new Redis(bench.redis.url);
});
afterAll(async () => {
  theirs.disconnect();
  await bench.stop();
});

@Injectable()
class Accounts {
  @Locked('account:<_id>', { dialect: 'redis-semaphore', wait: 0 })
  async withdraw(_id: string, @CurrentLease() lease?: Lease): Promise<string | null> {
    await lease!.extend();
    return theirs.get(`mutex:account:${_id}`);
  }
}

describe('a method under another service’s lock', () => {
  it('runs while that service does not hold it', async () => {
    const accounts = (await bench.app({ providers: [Accounts] })).get(Accounts);
    await theirs.set('mutex:account:1', 'theirs', 'PX', 60_000);
    await expect(accounts.withdraw('1')).rejects.toThrow(LockNotAcquiredError);
    await theirs.del('mutex:account:1');
    const label = Buffer.from('Accounts.withdraw').toString('base64url');
    expect(await accounts.withdraw('1')).toMatch(new RegExp(`/.{22}_${label}~$`));
    expect(await theirs.exists('mutex:account:1')).toBe(0);
  });

  it('is refused where it stands, when it asks for what that service does not have', () => {
    const decorate = (options: object): (() => void) => {
      return () => {
        class Readers {
          @Locked('account:<_id>', options)
          async read(_id: string): Promise<void> {}
        }
        return Readers;
      };
    };
    expect(decorate({ dialect: 'redlock', mode: 'shared' })).toThrow(LockOptionsError);
    expect(decorate({ dialect: 'redlock', permits: 3 })).toThrow(LockOptionsError);
    expect(decorate({ dialect: 'cobol' })).toThrow('There is no dialect "cobol"');
  });
});

it.each(['redlock', 'symfony', { name: 'redisson', kind: 'readWrite' }] as const)(
  'a call for permits is refused in dialect %j, which would not count them',
  async (dialect) => {
    const semaphore = (await bench.app({})).get(LockService).semaphore('s', { permits: 1 });
    const refusal = /does not support "permits"/;
    await expect(semaphore.acquire({ dialect })).rejects.toThrow(refusal);
    await expect(semaphore.tryAcquire({ dialect })).rejects.toThrow(refusal);
    await expect(semaphore.withPermit({ dialect }, async () => {})).rejects.toThrow(refusal);
    expect(await (await semaphore.acquire({ dialect: 'native' })).release()).toBe(true);
  },
);

describe('a module with a dialect', () => {
  it('writes all its locks so, but elections', async () => {
    const locks = (await bench.app({}, { dialect: 'pottery' })).get(LockService);
    const lease = await locks.acquire('a');
    expect(await theirs.exists('redlock:a')).toBe(1);
    expect(await locks.inspect('a')).toMatchObject({ state: 'held', mode: 'exclusive' });
    expect(await locks.forceRelease('a')).toBe(true);
    expect(await locks.inspect('a')).toMatchObject({ state: 'free' });
    expect(await lease.release()).toBe(false);
    const election = locks.election('boss');
    await election.campaign();
    expect(await theirs.exists('lock:leader:boss')).toBe(1);
    expect(await election.leader()).toMatchObject({ pid: process.pid });
    await election.resign();
  });

  it('refuses what that format does not have', async () => {
    const locks = (await bench.app({}, { dialect: 'redlock' })).get(LockService);
    expect(() => locks.semaphore('s', { permits: 2 })).toThrow(LockOptionsError);
    await expect(locks.optimistic('o')).rejects.toThrow(LockOptionsError);
    await expect(locks.acquire('a', { mode: 'shared' })).rejects.toThrow(LockOptionsError);
    const lease = await locks.acquire('a');
    await expect(locks.condition(lease, 'c').await()).rejects.toThrow('has no conditions');
    await expect(locks.condition(lease, 'c').signal()).rejects.toThrow('has no conditions');
    expect(lease.held).toBe(true);
    await expect(lease.handOver()).rejects.toThrow('cannot be handed over');
    expect(lease.held).toBe(true);
    await lease.release();
  });

  it('lists the locks of that format', async () => {
    const locks = (await bench.app({}, { dialect: 'redlock' })).get(LockService);
    const lease = await locks.acquire('listed');
    expect((await locks.list('listed')).map(({ key }) => key)).toEqual(['listed']);
    await lease.release();
    expect(await locks.list('listed')).toEqual([]);
  });

  it('does not go with replicas', async () => {
    const module = { replicas: { acks: 1, timeout: 50 } };
    const locks = (await bench.app({}, module)).get(LockService);
    await expect(locks.acquire('a', { dialect: 'redlock' })).rejects.toThrow(
      'Dialect "redlock" and option "replicas" exclude each other',
    );
    expect(await theirs.exists('a')).toBe(0);
  });

  it.each([
    ['redlock', `its format is a quorum's own: leave it out, and set "keyPrefix" to ""`],
    ['pottery', `its format is a quorum's own: leave it out, and set "keyPrefix" to "redlock:"`],
    ['redis-py', 'clients of "redis-py" lock on one Redis. Use a module without "nodes" for it'],
  ] as const)('is no quorum, as "%s" says', (dialect, why) => {
    const nodes = [bench.redis.url, bench.redis.url];
    expect(() => RedisLockModule.forRoot({ nodes, dialect })).toThrow(
      `Dialect "${dialect}" and option "nodes" exclude each other: ${why}.`,
    );
  });

  it('holds several locks together', async () => {
    const locks = (await bench.app({}, { dialect: 'redlock' })).get(LockService);
    await theirs.set('multi:b', 'theirs', 'PX', 60_000);
    expect(await locks.tryAcquire(['multi:a', 'multi:b'])).toBeNull();
    expect(await theirs.exists('multi:a')).toBe(0);
    await theirs.del('multi:b');
    const lease = await locks.acquire(['multi:a', 'multi:b']);
    expect(await theirs.exists('multi:a', 'multi:b')).toBe(2);
    await lease.release();
  });
});
