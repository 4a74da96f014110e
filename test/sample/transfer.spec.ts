import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TransferModule } from '../../sample/transfer/transfer.module.js';
import { TransferService } from '../../sample/transfer/transfer.service.js';
import { RedisProcess } from '../../tools/redis-server.js';

let redis: RedisProcess;
const replicas: INestApplicationContext[] = [];
let services: TransferService[];
beforeAll(async () => {
  redis = await RedisProcess.start();
  for (let replica = 0; replica < 2; replica += 1) {
    const module = TransferModule.connectedTo(redis.url);
    replicas.push(await NestFactory.createApplicationContext(module, { logger: false }));
  }
  services = replicas.map((replica) => replica.get(TransferService));
});
afterAll(async () => {
  for (const replica of replicas) await replica.close();
  await redis.stop();
});

it('transfers there and back, and deposits between them, lose no money and never wait for each other', async () => {
  const [here, there] = services as [TransferService, TransferService];
  await Promise.all([here.deposit('ann', 500), there.deposit('bob', 500)]);
  await Promise.all(
    Array.from({ length: 60 }, (_, nth) => [
      here.transfer('ann', 'bob', 1 + (nth % 3)),
      there.transfer('bob', 'ann', 1 + (nth % 5)),
      here.deposit('bob', 1),
    ]).flat(),
  );
  expect((await here.balance('ann')) + (await here.balance('bob'))).toBe(1_060);
});

it('what is not there is not transferred, and both accounts are free again', async () => {
  const [here, there] = services as [TransferService, TransferService];
  await expect(here.transfer('cid', 'ann', 1)).rejects.toThrow('Not enough money');
  await there.deposit('cid', 7);
  expect(await here.balance('cid')).toBe(7);
});
