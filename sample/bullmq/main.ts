import { getQueueToken } from '@nestjs/bullmq';
import { NestFactory } from '@nestjs/core';
import type { Queue } from 'bullmq';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { LockService } from 'nest-redis-lock';
import { redisForSamples } from '../redis/redis-for-samples.js';
import { BankModule } from './bank.module.js';
import { Printer } from './printer.js';
import { StatementsService } from './statements.service.js';

const redis = await redisForSamples();
const bank = await NestFactory.createApplicationContext(BankModule.connectedTo(redis.url), {
  logger: false,
});
const printer = bank.get(Printer);
const postings = bank.get<Queue>(getQueueToken('postings'));

const worker = () => fork(fileURLToPath(new URL('./worker-main.js', import.meta.url)), [redis.url]);
async function end(process: ChildProcess): Promise<void> {
  process.kill('SIGTERM');
  await once(process, 'exit');
}

const old = worker();
await bank.get(StatementsService).order('ann', 20);
const { id } = await postings.add('salary', { account: 'ann', amount: 100 });
while ((await printer.printed('ann')).length < 5) await setTimeout(10);
await end(old);
const { length } = await printer.printed('ann');
const { state } = await bank.get(LockService).inspect('account:ann');
console.log(
  `A deploy after ${length} pages of 20: no worker is there, and the account is ${state}.`,
);

const next = worker();
while ((await postings.getCompletedCount()) === 0) await setTimeout(10);
const pages = await printer.printed('ann');
const tokens = new Set(pages.map(({ fencingToken }) => fencingToken));
const balances = new Set(pages.map(({ balance }) => balance));
console.log(`${pages.length} pages, under ${tokens.size} fencing token.`);
console.log(`The balance on them: ${[...balances].join(', ')}.`);
const { attemptsStarted, attemptsMade } = (await postings.getJob(id!))!;
console.log(`The posting was begun ${attemptsStarted} times, and used ${attemptsMade} attempt.`);

await end(next);
await bank.close();
await redis.close();
