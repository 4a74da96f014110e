import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { CacheModule } from '../../sample/cache/cache.module.js';
import { PriceList } from '../../sample/cache/price-list.js';
import { readDuringRefreshes } from '../../sample/cache/shops.js';
import { RedisProcess } from '../../tools/redis-server.js';

let redis: RedisProcess;
const replicas: INestApplicationContext[] = [];
let lists: PriceList[];
beforeAll(async () => {
  redis = await RedisProcess.start();
  for (let replica = 0; replica < 2; replica += 1) {
    const module = CacheModule.connectedTo(redis.url);
    replicas.push(await NestFactory.createApplicationContext(module, { logger: false }));
  }
  lists = replicas.map((replica) => replica.get(PriceList));
});
afterAll(async () => {
  for (const replica of replicas) await replica.close();
  await redis.stop();
});

it('who reads in shared mode never sees half of a refresh', async () => {
  const { read, torn } = await readDuringRefreshes(lists, 50, (list) => list.read());
  expect(read).toBeGreaterThan(50);
  expect(torn).toBe(0);
});

it('who reads without a lock does', async () => {
  const { torn } = await readDuringRefreshes(lists, 200, (list) => list.readUnlocked());
  expect(torn).toBeGreaterThan(0);
});
