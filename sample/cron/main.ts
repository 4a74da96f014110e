import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { redisForSamples } from '../redis/redis-for-samples.js';
import { CronModule } from './cron.module.js';
import { Outbox } from './outbox.js';

const redis = await redisForSamples();
const outbox = new Outbox();
const replicas: INestApplicationContext[] = [];
for (let replica = 0; replica < 3; replica += 1) {
  const module = CronModule.connectedTo(redis.url, outbox);
  replicas.push(await NestFactory.createApplicationContext(module, { logger: false }));
}

await outbox.seconds(4);
for (const replica of replicas) await replica.close();
console.log(`With minHold, a second had so many digests: ${[...outbox.sent.values()].join(', ')}.`);
console.log(`Without it: ${[...outbox.sentCarelessly.values()].join(', ')}.`);
await redis.close();
