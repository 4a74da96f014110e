import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { LeaderModule } from '../../sample/leader/leader.module.js';
import { Prices } from '../../sample/leader/prices.js';
import { RedisProcess } from '../../tools/redis-server.js';

let redis: RedisProcess;
const prices = new Prices();
const replicas: INestApplicationContext[] = [];
beforeAll(async () => {
  redis = await RedisProcess.start();
  for (let replica = 0; replica < 3; replica += 1) {
    const module = LeaderModule.connectedTo(redis.url, prices);
    replicas.push(await NestFactory.createApplicationContext(module, { logger: false }));
  }
});
afterAll(async () => {
  for (const replica of replicas) await replica.close();
  await redis.stop();
});

it('exactly one of three replicas pulls the data, and the next does as soon as it is gone', async () => {
  for (let gone = 0; gone < 3; gone += 1) {
    await prices.leaders(gone + 1);
    const leader = [...prices.writes.keys()].at(-1)!;
    const before = prices.writes.get(leader)!;
    while (prices.writes.get(leader)! < before + 3) await new Promise(setImmediate);
    expect(prices.writes.size).toBe(gone + 1);
    await replicas[gone]!.close();
  }
  const tokens = [...prices.writes.keys()];
  expect(tokens).toEqual([...tokens].sort((a, b) => a - b));
});
