import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { redisForSamples } from '../redis/redis-for-samples.js';
import { BoxesModule } from './boxes.module.js';
import { Customer } from './customer.js';

const redis = await redisForSamples();
const replicas: INestApplication[] = [];
for (let replica = 0; replica < 2; replica += 1) {
  const app = await NestFactory.create(BoxesModule.connectedTo(redis.url), { logger: false });
  replicas.push(await app.listen(0, '127.0.0.1').then(() => app));
}

const customers = [
  new Customer('ann', await replicas[0]!.getUrl()),
  new Customer('bob', await replicas[1]!.getUrl()),
];
const tenants = await Promise.all(customers.map((customer) => customer.rent(7)));
for (const { code, message, retryAfter } of customers.flatMap(({ refusals }) => refusals)) {
  console.log(`${code}: ${message} Asked again after ${retryAfter} s.`);
}
console.log(`Both know in the end: let to ${[...new Set(tenants)].join(' and ')}.`);

for (const customer of customers) customer.leave();
for (const each of replicas) await each.close();
await redis.close();
