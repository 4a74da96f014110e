import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import request from 'supertest';
import { LockKeyError, LockNotAcquiredError, LockService } from 'nest-redis-lock';
import { FaultProxy } from '../support/fault-proxy.js';
import { NestBench } from '../support/nest-app.js';
import { until } from '../support/until.js';
import { Payments, recipes, recipesApp } from './recipes-app.js';

let bench: NestBench;
let app: INestApplication;
let locks: LockService;
let pages: Server;
let url: string;
const payments = new Payments();
beforeAll(async () => {
  bench = await NestBench.start();
  app = await bench.app(recipesApp);
  locks = app.get(LockService);
  pages = createServer((asked, answer) => void (asked.url === '/page' && answer.end('12345')));
  await once(pages.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
});
afterAll(async () => {
  payments.die();
  pages.closeAllConnections();
  pages.close();
  await bench.stop();
});

describe('the recipes', () => {
  it('lose no withdrawal, on three replicas', async () => {
    const replicas = [app, await bench.app(recipesApp), await bench.app(recipesApp)];
    const calls = Array.from({ length: 60 }, (_, nth) =>
      replicas[nth % 3]!.get(recipes.AccountsService).withdraw('1', 1),
    );
    const results = (await Promise.all(calls)) as number[];
    expect(results.sort((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, n) => 40 + n));
  });

  it('say what happens when a lock is busy', async () => {
    const reports = app.get(recipes.ReportsService);
    const lease = await locks.acquire('report:1');
    await expect(reports.create('1')).rejects.toThrow(LockNotAcquiredError);
    expect(await reports.refresh('1')).toBeUndefined();
    expect(await reports.read('1')).toBe('in the making');
    await expect(reports.update('1')).rejects.toMatchObject({
      message: 'Report 1 is locked.',
      status: 423,
    });
    await lease.release();
    await reports.update('1');
    expect(await reports.read('1')).toBe('report 1, updated');
  });

  it('book an event once, however often it is delivered and although a replica dies of it', async () => {
    const parts = {
      controllers: [recipes.WebhooksController],
      providers: [{ provide: recipes.Payments, useValue: payments }],
    };
    const proxy = await FaultProxy.before(bench.redis.port);
    const dying = await bench.app(parts, { redis: proxy.url, ttl: '4s' });
    const living = [await bench.app(parts), await bench.app(parts)];
    const deliver = async (to: INestApplication): Promise<number> =>
      (await request(to.getHttpServer()).post('/webhooks/payments').send({ id: 'e' })).status;
    const deliverTwice = (): Promise<number[]> => Promise.all(living.map(deliver));

    const first = deliver(dying);
    await until('it works', () => payments.begun.length === 1);
    expect(await deliverTwice()).toEqual([409, 409]);
    await proxy.refuse(); // it has died, as far as Redis and the sender can tell
    const answers: number[] = [];
    await until('its lock is over', async () => {
      answers.push(...(await deliverTwice()));
      return answers.includes(200);
    });
    expect(answers.filter((status) => status !== 200 && status !== 409)).toEqual([]);
    expect(await deliver(living[0]!)).toBe(200);
    expect(payments).toMatchObject({ begun: ['e', 'e'], done: ['e'] });
    payments.die();
    expect(await first).toBe(500);
  });

  it('hold seats over a restart, until they are confirmed or cancelled by another replica', async () => {
    const seats = { providers: [recipes.SeatsService] };
    const of = (replica: INestApplication) => replica.get(recipes.SeatsService);
    const first = await bench.app(seats);
    const texts: string[] = [
      await of(first).hold('1', ['A1', 'A2', 'A3']),
      await of(first).hold('1', ['B1']),
      await of(first).hold('1', ['C1']),
    ];
    await first.close();
    const [second, third] = [await bench.app(seats), await bench.app(seats)];
    const [held] = await locks.list('seat:1:A2');
    expect(held).toMatchObject({ handedOver: true, holder: { label: 'Seats.hold' } });
    expect(held!.remaining).toBeGreaterThan(9.5 * 60_000);
    await expect(of(second).hold('1', ['A3', 'A4'])).rejects.toMatchObject({ status: 409 });

    const confirmed = [second, third].map((replica) => of(replica).confirm(texts[0]));
    expect((await Promise.allSettled(confirmed)).map(({ status }) => status).sort()).toEqual([
      'fulfilled',
      'rejected',
    ]);
    const booked = [second, third].flatMap((replica) => of(replica).booked);
    expect(booked).toEqual(['seat:1:A1', 'seat:1:A2', 'seat:1:A3']);

    expect(await of(third).cancel(texts[1])).toBe(true);
    expect(await of(second).cancel(texts[1])).toBe(false);
    await expect(of(second).confirm(texts[1])).rejects.toMatchObject({ status: 410 });
    const again = await of(second).hold('1', ['A1', 'B1']);
    await expect(of(third).hold('1', ['C1', 'D1'])).rejects.toMatchObject({ status: 409 });
    for (const text of [again, texts[2]]) expect(await of(third).cancel(text)).toBe(true);
    expect(await locks.list('seat:*')).toEqual([]);
  });

  it('run a job on one replica once', async () => {
    const digest = app.get(recipes.DigestService);
    await digest.send();
    await digest.send();
    expect(digest.sent).toEqual(['digest']);
    expect((await locks.inspect('digest')).state).toBe('kept');
  });

  it('lock by the tenant of the context, and refuse a call without one', async () => {
    const [tenant, invoices] = [app.get(recipes.TenantContext), app.get(recipes.InvoicesService)];
    const held = await locks.acquire('tenant:a:invoice:1');
    const pay = (id: string) => tenant.run(id, () => invoices.pay('1')) as Promise<string>;
    const waits = pay('a');
    await until('it waits', async () => (await locks.inspect('tenant:a:invoice:1')).waiting === 1);
    expect(await pay('b')).toBe('b paid 1');
    await held.release();
    expect(await waits).toBe('a paid 1');
    await expect(invoices.pay('1')).rejects.toThrow(LockKeyError);
  });

  it('end a long job when its lock is lost', async () => {
    const imports = app.get(recipes.ImportService);
    expect(await imports.run([`${url}/page`, `${url}/page`])).toBe(10);
    const asked = once(pages, 'request');
    const lost = imports.run([`${url}/silent`]).catch((error: unknown) => error);
    await asked;
    await locks.forceRelease('import');
    expect(await lost).toMatchObject({ code: 'LEASE_LOST', reason: 'forced' });
  });

  it('commit before the lock is given back', async () => {
    const under: (string | undefined)[] = [];
    recipes.journal.push = function (this: string[], line: string): number {
      under.push(locks.current()?.key);
      return Array.prototype.push.call(this, line);
    };
    await app.get(recipes.LedgerService).post('a', 1);
    expect([...recipes.journal]).toEqual(['begin', 'a 1', 'commit']);
    expect(under).toEqual(['account:a', 'account:a', 'account:a']);
    expect((await locks.inspect('account:a')).state).toBe('free');
  });

  it('show locks to operators, and release them', async () => {
    const lease = await locks.acquire('stock:7');
    const server = app.getHttpServer();
    const { body } = await request(server).get('/admin/locks').query({ match: 'stock:*' });
    expect(body).toMatchObject([{ key: 'stock:7', state: 'held' }]);
    const { body: one } = await request(server).get('/admin/locks/stock%3A7');
    expect(one).toMatchObject({ state: 'held', holder: { pid: process.pid } });
    await request(server).delete('/admin/locks/stock%3A7').expect(200, 'true');
    await until('the holder is told', () => lease.signal.aborted);
  });
});
