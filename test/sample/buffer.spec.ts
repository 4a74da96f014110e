import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { BoundedBuffer } from '../../sample/buffer/bounded-buffer.js';
import { BufferModule } from '../../sample/buffer/buffer.module.js';
import { RedisProcess } from '../../tools/redis-server.js';

let redis: RedisProcess;
const replicas: INestApplicationContext[] = [];
beforeAll(async () => {
  redis = await RedisProcess.start();
  for (let replica = 0; replica < 3; replica += 1) {
    const module = BufferModule.connectedTo(redis.url, 2);
    replicas.push(await NestFactory.createApplicationContext(module, { logger: false }));
  }
});
afterAll(async () => {
  for (const replica of replicas) {
    replica.get(Redis).disconnect();
    await replica.close();
  }
  await redis.stop();
});

it('what three replicas put is taken once, by three others’ callers, however full or empty it is', async () => {
  const buffers = replicas.map((replica) => replica.get(BoundedBuffer));
  const items = Array.from({ length: 60 }, (_, at) => `item ${at}`);
  const putting = buffers.map(async (buffer, at) => {
    for (const item of items.filter((_, nth) => nth % 3 === at)) await buffer.put(item);
  });
  const taken: string[] = [];
  const taking = buffers.map(async (buffer) => {
    for (let turn = 0; turn < 20; turn += 1) taken.push(await buffer.take());
  });
  await Promise.all([...putting, ...taking]);
  expect(taken.sort()).toEqual(items.sort());
});
