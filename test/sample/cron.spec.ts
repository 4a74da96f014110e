import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { CronModule } from '../../sample/cron/cron.module.js';
import { DigestService } from '../../sample/cron/digest.service.js';
import { Outbox } from '../../sample/cron/outbox.js';
import { RedisProcess } from '../../tools/redis-server.js';

let redis: RedisProcess;
const outbox = new Outbox();
const replicas: INestApplicationContext[] = [];
beforeAll(async () => {
  redis = await RedisProcess.start();
  for (let replica = 0; replica < 3; replica += 1) {
    const module = CronModule.connectedTo(redis.url, outbox);
    replicas.push(await NestFactory.createApplicationContext(module, { logger: false }));
  }
});
afterAll(async () => {
  for (const replica of replicas) await replica.close();
  await redis.stop();
});

it('sends one digest a second, from three replicas', async () => {
  await outbox.seconds(3);
  expect([...outbox.sent.values()].slice(0, 3)).toEqual([1, 1, 1]);
});

it('sends it again without minHold, where a replica comes after the first has sent it', async () => {
  for (const replica of replicas) await replica.get(DigestService).sendCarelessly();
  expect(Math.max(...outbox.sentCarelessly.values())).toBeGreaterThan(1);
});
