import { getQueueToken } from '@nestjs/bullmq';
import { NestFactory } from '@nestjs/core';
import type { Queue } from 'bullmq';
import { setTimeout } from 'node:timers/promises';
import { LockService } from 'nest-redis-lock';
import { redisForSamples } from '../redis/redis-for-samples.js';
import type { Posting } from './postings.worker.js';
import { Printer } from './printer.js';
import { StatementsModule } from './statements.module.js';
import { StatementsService } from './statements.service.js';

const redis = await redisForSamples();
const printer = new Printer();
const replica = () =>
  NestFactory.createApplicationContext(StatementsModule.connectedTo(redis.url, printer), {
    logger: false,
  });

const old = await replica();
await old.get(StatementsService).order('ann', 20);
await old.get<Queue<Posting>>(getQueueToken('postings')).add('salary', {
  account: 'ann',
  amount: 100,
});
while (printer.pages.length < 5) await setTimeout(10);
await old.close(); // as at a deploy: SIGTERM, after app.enableShutdownHooks()
console.log(`A deploy after ${printer.pages.length} pages of 20.`);

const next = await replica();
const { state, remaining } = await next.get(LockService).inspect('account:ann');
console.log(`The account is ${state}, for ${Math.round(remaining! / 1_000)} s at least.`);
const postings = next.get<Queue<Posting>>(getQueueToken('postings'));
while ((await postings.getCompletedCount()) === 0) await setTimeout(10);
const [salary] = await postings.getCompleted();

const tokens = new Set(printer.pages.map(({ fencingToken }) => fencingToken));
const balances = new Set(printer.pages.map(({ balance }) => balance));
console.log(`${printer.pages.length} pages, under ${tokens.size} fencing token.`);
console.log(`The balance on them: ${[...balances].join(', ')}.`);
console.log(
  `The posting was begun ${salary!.attemptsStarted} times, and used ${salary!.attemptsMade} attempt.`,
);

await next.close();
await redis.close();
