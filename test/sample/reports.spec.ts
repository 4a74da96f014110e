import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Database } from '../../sample/reports/database.js';
import { ReportService } from '../../sample/reports/report.service.js';
import { ReportsModule } from '../../sample/reports/reports.module.js';
import { RedisProcess } from '../../tools/redis-server.js';

let redis: RedisProcess;
const database = new Database();
const replicas: INestApplicationContext[] = [];
beforeAll(async () => {
  redis = await RedisProcess.start();
  for (let replica = 0; replica < 3; replica += 1) {
    const module = ReportsModule.connectedTo(redis.url, database);
    replicas.push(await NestFactory.createApplicationContext(module, { logger: false }));
  }
});
afterAll(async () => {
  for (const replica of replicas) await replica.close();
  await redis.stop();
});

it('three replicas make two reports at a time for each tenant, and all of them in the end', async () => {
  const asked = replicas.flatMap((replica) =>
    ['acme', 'globex'].flatMap((tenant) =>
      Array.from({ length: 5 }, () => replica.get(ReportService).create(tenant)),
    ),
  );
  expect(await Promise.all(asked)).toHaveLength(30);
  expect(Object.fromEntries(database.most)).toEqual({ acme: 2, globex: 2 });
});
