import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Redis } from 'ioredis';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { firstValueFrom } from 'rxjs';
import request from 'supertest';
import {
  LockService,
  LockUpgradeError,
  RedisLockModule,
  StaleFencingTokenError,
} from 'nest-redis-lock';
import { RedisProcess } from '../../tools/redis-server.js';
import { DigestService } from './cron.js';
import { balances } from './database.js';
import { OrdersController, OrdersService } from './decorator.js';
import { updateBalance, writeBalance } from './fencing.js';
import { BoundedQueue } from './condition.js';
import { FeedService, lead, pulled } from './leader.js';
import { Queue, shipped, ShippingService } from './hand-over.js';
import { exportAll } from './lost.js';
import { position } from './optimistic.js';
import { ReportService } from './permits.js';
import { PaymentService } from './several.js';
import { CatalogueService, indexed } from './shared.js';
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
    providers: [
      OrdersService,
      TransferService,
      LedgerService,
      FeedService,
      DigestService,
      CatalogueService,
      ReportService,
      PaymentService,
      ShippingService,
      Queue,
    ],
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

  it('read together, and write alone', async () => {
    const catalogue = app.get(CatalogueService);
    const locks = app.get(LockService);
    await catalogue.replaceAndIndex('s', ['x']);
    expect(indexed).toEqual(['s']);
    const reading = locks.withLock('catalogue:s', { mode: 'shared' }, async () => {
      expect(await Promise.all([catalogue.list('s'), catalogue.list('s')])).toEqual([['x'], ['x']]);
      await expect(catalogue.replace('s', [])).rejects.toThrow(LockUpgradeError);
    });
    await reading;
  });

  it('let five in, or four at once', async () => {
    const [reports, locks] = [app.get(ReportService), app.get(LockService)];
    const others = locks.semaphore('report:t', { permits: 5 });
    const taken = await others.acquire({ count: 4 });
    expect(await reports.create('t')).toBe(1);
    const fifth = await others.acquire();
    const sixth = reports.create('t');
    expect(await others.tryAcquire()).toBeNull();
    await Promise.all([fifth.release(), taken.release()]);
    expect(await sixth).toBe(2);
    expect(await reports.createLarge('t')).toBe(3);
  });

  it('pay there and back without a deadlock', async () => {
    const payments = app.get(PaymentService);
    const tokens = await Promise.all(
      Array.from({ length: 20 }, (_, nth) => [
        payments.pay('p', 'q', nth),
        payments.pay('q', 'p', nth),
      ]).flat(),
    );
    expect(new Set(tokens).size).toBe(tokens.length);
    expect([await balances.read('p'), await balances.read('q')]).toEqual([100, 100]);
  });

  it('hand a lease over, to whoever works the queue', async () => {
    const locks = app.get(LockService);
    const shipping = app.get(ShippingService);
    const { jobs } = app.get(Queue);
    await shipping.ship('7');
    expect(await locks.tryAcquire('order:7')).toBeNull();
    await shipping.work(jobs[0]!);
    expect(shipped).toEqual([expect.stringMatching(/^7 \d+$/)]);
    await expect(shipping.work(jobs[0]!)).rejects.toThrow('is over');
    await (await locks.acquire('order:7', { wait: 0 })).release();
  });

  it('read without a lock, and with one where a writer came between', async () => {
    const locks = app.get(LockService);
    let reads = 0;
    const read = async () => [(reads += 1), 0] as const;
    expect(await position(locks, '1', read)).toEqual([1, 0]);
    const disturbed = await position(locks, '1', async () => {
      if (reads === 1) await locks.withLock('position:1', () => undefined);
      return read();
    });
    expect(disturbed).toEqual([3, 0]);
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
});
