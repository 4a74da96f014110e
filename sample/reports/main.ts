import { NestFactory } from '@nestjs/core';
import { redisForSamples } from '../redis/redis-for-samples.js';
import { Database } from './database.js';
import { ReportService } from './report.service.js';
import { ReportsModule } from './reports.module.js';

const redis = await redisForSamples();
const database = new Database();
const replica = () =>
  NestFactory.createApplicationContext(ReportsModule.connectedTo(redis.url, database), {
    logger: false,
  });
const replicas = [await replica(), await replica(), await replica()];

const reports = replicas.flatMap((each) =>
  ['acme', 'globex'].flatMap((tenant) =>
    Array.from({ length: 10 }, () => each.get(ReportService).create(tenant)),
  ),
);
console.log(`${(await Promise.all(reports)).length} reports by three replicas.`);
for (const [tenant, most] of database.most) console.log(`At most ${most} at a time for ${tenant}.`);

for (const each of replicas) await each.close();
await redis.close();
