import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { redisForSamples } from '../redis/redis-for-samples.js';
import { BoundedBuffer } from './bounded-buffer.js';
import { BufferModule } from './buffer.module.js';

const redis = await redisForSamples();
const [producer, consumer] = await Promise.all(
  [1, 2].map(() =>
    NestFactory.createApplicationContext(BufferModule.connectedTo(redis.url, 3), { logger: false }),
  ),
);

const orders = Array.from({ length: 12 }, (_, order) => `order ${order + 1}`);
const put = (async () => {
  for (const order of orders) await producer!.get(BoundedBuffer).put(order);
})();
const taken: string[] = [];
while (taken.length < orders.length) taken.push(await consumer!.get(BoundedBuffer).take());
await put;
console.log(
  `Two replicas, a buffer of three: ${taken.length} orders came through, in their order.`,
);

for (const replica of [producer!, consumer!]) {
  replica.get(Redis).disconnect();
  await replica.close();
}
await redis.close();
