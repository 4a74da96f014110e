import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { StockService } from '../../sample/transaction/stock.service.js';
import { TransactionModule } from '../../sample/transaction/transaction.module.js';
import { RedisProcess } from '../../tools/redis-server.js';

let redis: RedisProcess;
let app: INestApplicationContext;
let stock: StockService;
beforeAll(async () => {
  redis = await RedisProcess.start();
  app = await NestFactory.createApplicationContext(TransactionModule.connectedTo(redis.url), {
    logger: false,
  });
  stock = app.get(StockService);
});
afterAll(async () => {
  await app.close();
  await redis.stop();
});

async function soldTo(buyers: number, buy: () => Promise<void>): Promise<number> {
  const outcomes = await Promise.allSettled(Array.from({ length: buyers }, buy));
  return outcomes.filter(({ status }) => status === 'fulfilled').length;
}

it('commits before the lock is given back: no piece is sold twice', async () => {
  await stock.fill('book', 12);
  expect(await soldTo(20, () => stock.sell('book'))).toBe(12);
  expect(await stock.left('book')).toBe(0);
});

it('sells pieces twice where the transaction is around the lock', async () => {
  await stock.fill('pen', 12);
  const sold = await soldTo(12, () => stock.sellAndCommitTooLate('pen'));
  expect(sold).toBeGreaterThan(12 - (await stock.left('pen')));
});

it('drops what a method has written that throws', async () => {
  await stock.fill('cup', 3);
  const spill = stock.database.transaction(async () => {
    stock.database.write('stock:cup', 0);
    throw new Error('spilt');
  });
  await expect(spill).rejects.toThrow('spilt');
  expect(await stock.left('cup')).toBe(3);
});
