import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { redisForSamples } from '../redis/redis-for-samples.js';
import { Clerk } from './clerk.js';
import { LoansModule } from './loans.module.js';
import { Scoring } from './scoring.js';

const redis = await redisForSamples();
const replicas: INestApplication[] = [];
for (let replica = 0; replica < 2; replica += 1) {
  const app = await NestFactory.create(LoansModule.connectedTo(redis.url), {
    logger: false,
    forceCloseConnections: true,
  });
  replicas.push(await app.listen(0, '127.0.0.1').then(() => app));
}

const clerks = [
  new Clerk('ann', await replicas[0]!.getUrl()),
  new Clerk('bob', await replicas[1]!.getUrl()),
];
const approvers = await Promise.all(clerks.map((clerk) => clerk.approve('loan 7')));
for (const { message, extensions } of clerks.flatMap(({ refusals }) => refusals)) {
  console.log(`${extensions.code}: ${message} Asked again after ${extensions.retryAfter} s.`);
}
console.log(`Both know in the end: approved by ${[...new Set(approvers)].join(' and ')}.`);
const questions = replicas.map((each) => each.get(Scoring).questions);
console.log(`The agency was asked ${questions[0]! + questions[1]!} time.`);

for (const each of replicas) await each.close();
await redis.close();
