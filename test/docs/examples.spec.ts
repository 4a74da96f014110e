import { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Redis } from 'ioredis';
import { firstValueFrom } from 'rxjs';
import request from 'supertest';
import { type Lease, LockService, LockUpgradeError, StaleFencingTokenError } from 'nest-redis-lock';
import { NestBench } from '../support/nest-app.js';
import { until } from '../support/until.js';
import { pasted } from './pages.js';

const bench = await NestBench.start();
process.env['REDIS_URL'] = process.env['BILLING_REDIS_URL'] = bench.redis.url; // which the pages read

/** The pages, but for those that have a spec of their own. The tests of docs/testing.md become tests of this file. */
const start = await pasted<any>('docs/start.md');
const decorator = await pasted<any>('docs/decorator.md');
const service = await pasted<any>('docs/service.md');
const shared = await pasted<any>('docs/semaphores-and-readers.md');
const conditions = await pasted<any>('docs/conditions-and-leaders.md');
const fencing = await pasted<any>('docs/fencing.md');
const errors = await pasted<any>('docs/errors.md');
const events = await pasted<any>('docs/events.md');
await pasted('docs/testing.md');

let app: INestApplication;
let locks: LockService;
beforeAll(async () => {
  app = await application();
  locks = app.get(LockService);
});
afterAll(() => bench.stop());

describe('the example', () => {
  it('of Start reads its options from another provider', async () => {
    const imports = [start.LocksModule];
    const other = await (await Test.createTestingModule({ imports }).compile()).init();
    expect(await other.get(LockService).withLock('a', (lease) => lease.held)).toBe(true);
    await other.close();
  });

  it('of Events hears of a lost lease, and counts what is held', async () => {
    const watch = app.get(events.LockWatch);
    const lease = await locks.acquire('watched', { name: 'watched' });
    expect(events.held.get('watched')).toBe(1);
    await locks.forceRelease('watched');
    await until('the loss is heard of', () => watch.lost === 1);
    expect(events.held.get('watched')).toBe(0);
    expect([lease.held, events.slow]).toEqual([false, []]);
  });

  it('of Decorator says what to lock in each form', async () => {
    const orders = app.get(decorator.OrdersService);
    expect(await orders.place({ customer: { id: 'c' }, items: ['x', 'y'] })).toBe(2);
    expect(await orders.restock('s')).toMatch(/^s under token \d{16}$/);
    expect(await firstValueFrom(orders.feed('f'))).toBe('f');
    expect(await firstValueFrom(app.get(decorator.MinifiedService).price('7'))).toBe('price of 7');
    const done: string[] = [];
    const elsewhere = await locks.acquire('nightly-import');
    await orders.importOrders(done);
    await elsewhere.release();
    expect(done).toEqual([]);
    await orders.importOrders(done);
    expect(done).toEqual(['imported']);
  });

  it('of Decorator locks a request, and refuses one that names nothing', async () => {
    const post = () => request(app.getHttpServer()).post('/orders/7').send({ note: 'n' });
    expect((await post().set('x-tenant', 't')).text).toBe('7: n');
    expect((await post()).status).toBe(400);
  });

  it('of Service holds a lock in each way', async () => {
    const audits = app.get(service.AuditService);
    await audits.deposit('s', async () => {
      expect((await locks.inspect('account:s')).state).toBe('held');
    });
    const token = await audits.audit('s');
    expect(await audits.auditIfIdle('s')).toBeGreaterThan(token);
    const lease = await locks.acquire('account:s');
    expect(await audits.auditIfIdle('s')).toBe('busy');
    await lease.release();
  });

  it('of Service pays there and back without a deadlock', async () => {
    const payments = app.get(service.PaymentService);
    const write = async () => expect(await locks.list('account:*')).toHaveLength(2);
    const tokens = await Promise.all(
      Array.from({ length: 10 }, () => [
        payments.pay('p', 'q', write),
        payments.pay('q', 'p', write),
      ]).flat(),
    );
    expect(new Set(tokens).size).toBe(tokens.length);
    await payments.close(['p', 'q'], write);
  });

  it('of Service has a second module', async () => {
    const imports = [service.BillingModule];
    const other = await (await Test.createTestingModule({ imports }).compile()).init();
    expect(await other.get(service.BillingService).bill('7')).toBe('invoice:7');
    await other.close();
  });

  it('of Semaphores and readers reads together, and writes alone', async () => {
    const catalogue = app.get(shared.CatalogueService);
    await catalogue.replaceAndIndex('s', ['x']);
    expect(catalogue.indexed).toEqual(['s']);
    await locks.withLock('catalogue:s', { mode: 'shared' }, async () => {
      expect(await Promise.all([catalogue.list('s'), catalogue.list('s')])).toEqual([['x'], ['x']]);
      await expect(catalogue.replace('s', [])).rejects.toThrow(LockUpgradeError);
    });
  });

  it('of Semaphores and readers lets five in, or four at once', async () => {
    const reports = app.get(shared.ReportService);
    const others = locks.semaphore('report:t', { permits: 5 });
    const taken = await others.acquire({ count: 4 });
    expect(await reports.create('t')).toBe(1);
    const fifth = await others.acquire();
    const sixth = reports.create('t');
    await until('the sixth waits', async () => (await locks.inspect('report:t')).waiting === 1);
    await Promise.all([fifth.release(), taken.release()]);
    expect(await sixth).toBe(2);
    expect(await reports.createLarge('t')).toBe(3);
  });

  it('of Semaphores and readers reads without a lock, and with one where a writer came between', async () => {
    let reads = 0;
    const read = async () => [(reads += 1), 0];
    expect(await shared.position(locks, '1', read)).toEqual([1, 0]);
    const disturbed = await shared.position(locks, '1', async () => {
      if (reads === 1) await locks.withLock('position:1', () => undefined);
      return read();
    });
    expect(disturbed).toEqual([3, 0]);
  });

  it('of Conditions and leaders waits for a state under a lock', async () => {
    const jobs: { id: number }[] = [];
    const queue = new conditions.BoundedQueue(locks, {
      count: async () => jobs.length,
      push: async (job: { id: number }) => void jobs.push(job),
      shift: async () => jobs.shift()!,
    });
    const taking: Promise<{ id: number }>[] = Array.from({ length: 30 }, () => queue.take());
    for (let id = 0; id < 30; id += 1) await queue.put({ id });
    expect((await Promise.all(taking)).map(({ id }) => id).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 30 }, (_, id) => id),
    );
    await queue.put({ id: 30 });
    expect(await queue.take()).toEqual({ id: 30 });
  });

  it('of Conditions and leaders leads, and makes room for the next', async () => {
    const feed = app.get(conditions.FeedService);
    while (feed.pulled.length === 0) {
      await feed.pull();
      await new Promise(setImmediate);
    }
    expect(String(feed.pulled[0])).toMatch(/^\d{16}$/);
    const led: boolean[] = [];
    await conditions.lead(locks, async (signal: AbortSignal) => {
      led.push(signal.aborted);
      expect((await locks.inspect('leader:price-feed-by-hand')).holder!.pid).toBe(process.pid);
    });
    expect(led).toEqual([false]);
    expect((await locks.inspect('leader:price-feed-by-hand')).state).toBe('free');
  });

  it('of Fencing refuses a late writer', async () => {
    const client = new Redis(bench.redis.url);
    const late = await locks.acquire('fenced');
    await late.release();
    const next = await locks.acquire('fenced');
    await fencing.writeBalance(client, '1', 10, next);
    await expect(fencing.writeBalance(client, '1', 99, late)).rejects.toThrow(
      StaleFencingTokenError,
    );

    const db = await PGlite.create();
    await db.exec('CREATE TABLE accounts (id TEXT, balance INT, fence BIGINT)');
    await db.query("INSERT INTO accounts VALUES ('1', 0, 0)");
    const write = (balance: number, lease: Lease) => fencing.updateBalance(db, '1', balance, lease);
    await write(10, next);
    await expect(write(99, late)).rejects.toThrow(StaleFencingTokenError);
    await db.close();
    await next.release();
    client.disconnect();
  });

  it('of Errors tells what happened', async () => {
    const retrying = app.get(errors.RetryingService);
    const nothing = async () => {};
    expect(await retrying.run(nothing)).toBe('done');
    expect(await retrying.run(async () => void (await locks.forceRelease('import')))).toBe('lost');
    await expect(retrying.run(() => Promise.reject(new Error('its own')))).rejects.toThrow('own');
  });
});

/** An application with what the pages provide. */
function application(): Promise<INestApplication> {
  return bench.app({
    controllers: [decorator.OrdersController],
    providers: [
      decorator.OrdersService,
      decorator.MinifiedService,
      service.AuditService,
      service.PaymentService,
      shared.CatalogueService,
      shared.ReportService,
      conditions.FeedService,
      errors.RetryingService,
      events.LockWatch,
    ],
  });
}
