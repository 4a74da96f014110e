import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { LockService } from '../../lib/index.js';
import { BoxesModule } from '../../sample/gateway/boxes.module.js';
import { Customer } from '../../sample/gateway/customer.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { until } from '../support/until.js';

let redis: RedisProcess;
const replicas: INestApplication[] = [];
const customers: Customer[] = [];
beforeAll(async () => {
  redis = await RedisProcess.start();
  for (const name of ['ann', 'bob']) {
    const app = await NestFactory.create(BoxesModule.connectedTo(redis.url), { logger: false });
    replicas.push(await app.listen(0, '127.0.0.1').then(() => app));
    customers.push(new Customer(name, await app.getUrl()));
  }
});
afterAll(async () => {
  for (const customer of customers) customer.leave();
  for (const replica of replicas) await replica.close();
  await redis.stop();
});

it('tells a client at once that the lock is busy, in the acknowledgement and as an exception', async () => {
  const [ann] = customers;
  const lease = await replicas[1]!.get(LockService).acquire('box:6');
  const sent = performance.now();
  const rented = ann!.rent(6);
  await until('ann was refused', () => ann!.refusals.length > 0 && ann!.exceptions.length > 0);
  expect(performance.now() - sent).toBeLessThan(5_000); // a call without wait: 0 waits for 10 s
  expect(lease.held).toBe(true);
  const message = expect.not.stringContaining('box');
  const busy = { status: 'error', code: 'LOCK_NOT_ACQUIRED', message, retryAfter: 1 };
  expect([ann!.refusals[0], ann!.exceptions[0]]).toEqual([busy, busy]);
  await lease.release();
  expect(await rented).toBe('ann');
});

it('lets a box to one of two customers who ask at the same time', async () => {
  const tenants = await Promise.all(customers.map((customer) => customer.rent(7)));
  expect(new Set(tenants).size).toBe(1);
});
