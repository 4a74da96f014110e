import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { LockService } from 'nest-redis-lock';
import { redisForSamples } from '../redis/redis-for-samples.js';
import { LeaderModule } from './leader.module.js';
import { Prices } from './prices.js';

const redis = await redisForSamples();
const prices = new Prices();
const replicas: INestApplicationContext[] = [];
for (let replica = 0; replica < 3; replica += 1) {
  const module = LeaderModule.connectedTo(redis.url, prices);
  replicas.push(await NestFactory.createApplicationContext(module, { logger: false }));
}

await prices.leaders(1);
const leader = await replicas[0]!.get(LockService).election('price-feed').leader();
console.log(`Three replicas; one pulls the prices, since ${leader!.since!.toISOString()}.`);
for (const replica of replicas.slice(0, 2)) {
  const before = prices.writes.size;
  await replica.close();
  await prices.leaders(before + 1);
  console.log('A replica shut down; the next leads and pulls.');
}
await replicas[2]!.close();
await redis.close();
