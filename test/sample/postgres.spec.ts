import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { eq } from 'drizzle-orm';
import { LockService, StaleFencingTokenError } from '../../lib/index.js';
import { ExchangeRates } from '../../sample/postgres/exchange-rates.js';
import { PayoutsModule } from '../../sample/postgres/payouts.module.js';
import { PayoutsService } from '../../sample/postgres/payouts.service.js';
import { openDatabase, payouts, shops } from '../../sample/postgres/schema.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { until } from '../support/until.js';

let redis: RedisProcess;
let database: Awaited<ReturnType<typeof openDatabase>>;
let replicas: [INestApplicationContext, INestApplicationContext];
beforeAll(async () => {
  [redis, database] = await Promise.all([RedisProcess.start(), openDatabase()]);
  const module = PayoutsModule.connectedTo(redis.url, database);
  const replica = () => NestFactory.createApplicationContext(module, { logger: false });
  replicas = [await replica(), await replica()];
});
afterAll(async () => {
  for (const replica of replicas) await replica.close();
  await database.$client.close();
  await redis.stop();
});

async function amountsOf(shop: string): Promise<number[]> {
  const rows = await database.select().from(payouts).where(eq(payouts.shop, shop));
  return rows.map(({ amount }) => amount);
}

it('pays out once, however many ask: the commit comes before the release', async () => {
  await database.insert(shops).values({ id: 'bakery', balance: 70 });
  const paid = Array.from({ length: 6 }, (_, nth) =>
    replicas[nth % 2]!.get(PayoutsService).payOut('bakery'),
  );
  const amounts = await Promise.all(paid);
  expect(amounts.filter((amount) => amount > 0)).toEqual([140]);
  expect(await amountsOf('bakery')).toEqual([140]);
});

it('has the database refuse a holder that lost its lock, and rolls its transaction back', async () => {
  await database.insert(shops).values({ id: 'florist', balance: 90 });
  const [first, second] = replicas;
  const rates = first.get(ExchangeRates);
  const before = rates.questions;
  const answer = rates.hang();
  const stale = first.get(PayoutsService).payOut('florist');
  await until('the first has asked for the rate', () => rates.questions > before);
  await second.get(LockService).forceRelease('shop:florist');
  expect(await second.get(PayoutsService).payOut('florist')).toBe(180);
  answer();
  await expect(stale).rejects.toThrow(StaleFencingTokenError);
  expect(await amountsOf('florist')).toEqual([180]);
  const [florist] = await database.select().from(shops).where(eq(shops.id, 'florist'));
  expect(florist).toEqual({ id: 'florist', balance: 0, fence: expect.any(Number) });
});
