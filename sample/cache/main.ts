import { NestFactory } from '@nestjs/core';
import { redisForSamples } from '../redis/redis-for-samples.js';
import { CacheModule } from './cache.module.js';
import { PriceList } from './price-list.js';
import { readDuringRefreshes } from './shops.js';

const redis = await redisForSamples();
const replica = () =>
  NestFactory.createApplicationContext(CacheModule.connectedTo(redis.url), { logger: false });
const replicas = [await replica(), await replica(), await replica()];
const lists = replicas.map((each) => each.get(PriceList));

const wrong = await readDuringRefreshes(lists, 100, (list) => list.readUnlocked());
console.log(`Without a lock: ${wrong.torn} of ${wrong.read} readings saw half of a refresh.`);
const right = await readDuringRefreshes(lists, 100, (list) => list.read());
console.log(`In shared mode: ${right.torn} of ${right.read} readings saw half of a refresh.`);

for (const each of replicas) await each.close();
await redis.close();
