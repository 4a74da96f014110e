import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { INestApplicationContext, INestMicroservice } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type MicroserviceOptions, Transport } from '@nestjs/microservices';
import { LockService } from '../../lib/index.js';
import { CardsModule } from '../../sample/microservice/cards.module.js';
import { Till } from '../../sample/microservice/till.js';
import { TillModule } from '../../sample/microservice/till.module.js';
import { freePort, RedisProcess } from '../../tools/redis-server.js';
import { until } from '../support/until.js';

let redis: RedisProcess;
let cards: INestMicroservice;
let shop: INestApplicationContext;
let till: Till;
beforeAll(async () => {
  redis = await RedisProcess.start();
  const port = await freePort();
  const module = CardsModule.connectedTo(redis.url);
  cards = await NestFactory.createMicroservice<MicroserviceOptions>(module, {
    transport: Transport.TCP,
    options: { host: '127.0.0.1', port },
    logger: false,
  });
  await cards.listen();
  shop = await NestFactory.createApplicationContext(TillModule.connectedTo(port), {
    logger: false,
  });
  till = shop.get(Till);
});
afterAll(async () => {
  await shop.close();
  await cards.close();
  await redis.stop();
});

it('answers the client at once when the lock is busy; the client asks again, and gets its turn', async () => {
  const lease = await cards.get(LockService).acquire('card:secret');
  const sent = performance.now();
  const charged = till.charge({ card: 'secret', amount: 5 });
  await until('the till was refused', () => till.refusals.length > 0);
  expect(performance.now() - sent).toBeLessThan(5_000); // a call without wait: 0 waits for 10 s
  expect(lease.held).toBe(true);
  expect(till.refusals[0]).toEqual({
    status: 'error',
    code: 'LOCK_NOT_ACQUIRED',
    message: expect.not.stringContaining('secret'),
    retryAfter: 1,
  });
  await lease.release();
  expect(await charged).toBe(5);
});

it('charges a card once for each of those who come at the same time', async () => {
  const charges = [30, 20, 10].map((amount) => till.charge({ card: 'ann', amount }));
  expect(Math.max(...(await Promise.all(charges)))).toBe(60);
});
