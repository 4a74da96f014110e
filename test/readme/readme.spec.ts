import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Redis } from 'ioredis';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { firstValueFrom } from 'rxjs';
import request from 'supertest';
import { LockService, RedisLockModule, StaleFencingTokenError } from 'nest-redis-lock';
import { RedisProcess } from '../../tools/redis-server.js';
import { DigestService } from './cron.js';
import { OrdersController, OrdersService } from './decorator.js';
import { updateBalance, writeBalance } from './fencing.js';
import { BoundedQueue } from './condition.js';
import { FeedService, lead, pulled } from './leader.js';
import { exportAll } from './lost.js';
import { journal, LedgerService } from './transaction.js';
import { TransferService } from './service.js';
import { leaseEndsByItself } from './unit-test.js';

let redis: RedisProcess;
let app: INestApplication;
beforeAll(async () => {
  redis = await RedisProcess.start();
  process.env['REDIS_URL'] = redis.url;
  const module = await Test.createTestingModule({
    imports: [RedisLockModule.forRoot({ redis: redis.url })],
    controllers: [OrdersController],
    providers: [OrdersService, TransferService, LedgerService, FeedService, DigestService],
  }).compile();
  app = await module.createNestApplication({ logger: false }).init();
});
afterAll(async () => {
  await app.close();
  await redis.stop();
});

describe('the README', () => {
  it('shows no TypeScript that is not run here', () => {
    execFileSync(process.execPath, ['tools/readme.mjs', '--check']);
    const text = readFileSync('README.md', 'utf8');
    expect(text.match(/^```ts$/gm)).toHaveLength(text.match(/^<!-- \S+#\w+ -->$/gm)!.length);
  });

  it('links to files that exist', () => {
    const links = [...readFileSync('README.md', 'utf8').matchAll(/\]\(([^)#:]+)\)/g)];
    for (const [, path] of links) expect(readFileSync(path!, 'utf8')).not.toBe('');
  });
});

describe('its examples', () => {
  it('lose no update', async () => {
    const { AccountsService, BankModule } = await import('./bank.js');
    const replicas = await Promise.all(
      [1, 2, 3].map(async () =>
        (await Test.createTestingModule({ imports: [BankModule] }).compile()).init(),
      ),
    );
    const calls = Array.from({ length: 60 }, (_, n) =>
      replicas[n % 3]!.get(AccountsService).withdraw('readme', 1),
    );
    const results = await Promise.all(calls);
    expect(results.sort((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, n) => 40 + n));
    await Promise.all(replicas.map((replica) => replica.close()));
  });

  it('read their options from elsewhere', async () => {
    const { AsyncModule } = await import('./async-options.js');
    const app = await (await Test.createTestingModule({ imports: [AsyncModule] }).compile()).init();
    expect(await app.get(LockService).withLock('a', (lease) => lease.held)).toBe(true);
    await app.close();
  });

  it('say what to lock in each form', async () => {
    const orders = app.get(OrdersService);
    expect(await orders.place({ customer: { id: 'c' }, items: ['x', 'y'] })).toBe(2);
    expect(await orders.restock('s')).toMatch(/^s under token \d{16}$/);
    expect(await firstValueFrom(orders.feed('f'))).toBe('f');
    const done: string[] = [];
    const elsewhere = await app.get(LockService).acquire('nightly-import');
    await orders.importOrders(done);
    await elsewhere.release();
    expect(done).toEqual([]);
    await orders.importOrders(done);
    expect(done).toEqual(['imported']);
  });

  it('lock a request, and refuse one that names nothing', async () => {
    const post = () => request(app.getHttpServer()).post('/orders/7').send({ note: 'n' });
    expect((await post().set('x-tenant', 't')).text).toBe('7: n');
    expect((await post()).status).toBe(400);
  });

  it('deposit and audit', async () => {
    const transfers = app.get(TransferService);
    await Promise.all([transfers.deposit('s', 5), transfers.deposit('s', 6)]);
    expect(await transfers.audit('s')).toBe(111);
    expect(await transfers.auditIfIdle('s')).toBe(111);
    const lease = await app.get(LockService).acquire('account:s');
    expect(await transfers.auditIfIdle('s')).toBe('busy');
    await lease.release();
  });

  it('stop when the lease is lost', async () => {
    const locks = app.get(LockService);
    const written: number[] = [];
    const ended = exportAll(locks, 3, async (page) => {
      written.push(page);
      const lost = new Promise((resolve) =>
        locks.current('export')!.signal.addEventListener('abort', resolve),
      );
      await locks.forceRelease('export');
      await lost;
    });
    await expect(ended).rejects.toMatchObject({ code: 'LEASE_LOST', reason: 'forced' });
    expect(written).toEqual([0]);
  });

  it('refuse a late writer', async () => {
    const locks = app.get(LockService);
    const client = new Redis(redis.url);
    const late = await locks.acquire('fenced');
    await late.release();
    const next = await locks.acquire('fenced');
    await writeBalance(client, '1', 10, next);
    await expect(writeBalance(client, '1', 99, late)).rejects.toThrow(StaleFencingTokenError);

    const db = await PGlite.create();
    await db.exec('CREATE TABLE accounts (id TEXT, balance INT, fence BIGINT)');
    await db.query("INSERT INTO accounts VALUES ('1', 0, 0)");
    await updateBalance(db, '1', 10, next);
    await expect(updateBalance(db, '1', 99, late)).rejects.toThrow(StaleFencingTokenError);
    await db.close();
    await next.release();
    client.disconnect();
  });

  it('commit before the lock is given back', async () => {
    await app.get(LedgerService).post('a', 1);
    expect(journal).toEqual(['begin', 'a 1', 'commit']);
    expect((await app.get(LockService).inspect('account:a')).state).toBe('free');
  });

  it('wait for a state under a lock', async () => {
    const jobs: { id: number }[] = [];
    const queue = new BoundedQueue(app.get(LockService), {
      count: async () => jobs.length,
      push: async (job) => void jobs.push(job),
      shift: async () => jobs.shift()!,
    });
    const taking = Array.from({ length: 30 }, () => queue.take());
    for (let id = 0; id < 30; id += 1) await queue.put({ id });
    expect((await Promise.all(taking)).map(({ id }) => id).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 30 }, (_, id) => id),
    );
  });

  it('lead, and make room for the next', async () => {
    const feed = app.get(FeedService);
    while (pulled.length === 0) {
      await feed.pull();
      await new Promise(setImmediate);
    }
    expect(String(pulled[0])).toMatch(/^\d{16}$/);
    const locks = app.get(LockService);
    const led: boolean[] = [];
    await lead(locks, async (signal) => {
      led.push(signal.aborted);
      expect((await locks.inspect('leader:price-feed-by-hand')).holder!.pid).toBe(process.pid);
    });
    expect(led).toEqual([false]);
    expect((await locks.inspect('leader:price-feed-by-hand')).state).toBe('free');
  });

  it('run a job on one replica once', async () => {
    const digests = app.get(DigestService);
    await digests.sendDigest();
    await digests.sendDigest();
    expect(digests.sent).toEqual(['digest']);
    expect((await app.get(LockService).inspect('digest')).state).toBe('kept');
  });

  it('test an application without Redis', async () => {
    expect(await leaseEndsByItself()).toEqual([true, false]);
  });

  it('need no more rights than the README lists', async () => {
    const acl = /^user locks on >… ([^]*?)```/m.exec(readFileSync('README.md', 'utf8'))![1]!;
    const admin = new Redis(redis.url);
    await admin.call('ACL', 'SETUSER', 'locks', 'on', '>pw', ...acl.trim().split(/\s+/));
    const least = await Test.createTestingModule({
      imports: [RedisLockModule.forRoot({ redis: redis.url.replace('//', '//locks:pw@') })],
    }).compile();
    await least.init();
    const locks = least.get(LockService);
    const lease = await locks.acquire('least', { minHold: 1 });
    const waiting = locks.acquire('least');
    expect((await locks.inspect('least')).state).toBe('held');
    await lease.extend();
    await lease.release();
    await (await waiting).release();
    await locks.forceRelease('least');
    expect(await (await locks.optimistic('least')).validate()).toBe(true);
    await least.close();
    admin.disconnect();
  });
});
