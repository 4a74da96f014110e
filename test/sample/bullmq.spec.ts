import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { getQueueToken } from '@nestjs/bullmq';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Job, Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { LockService, RedisLockModule } from '../../lib/index.js';
import { type Page, Printer } from '../../sample/bullmq/printer.js';
import { StatementsModule } from '../../sample/bullmq/statements.module.js';
import { StatementsService } from '../../sample/bullmq/statements.service.js';
import { StatementsWorker } from '../../sample/bullmq/statements.worker.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { until } from '../support/until.js';

/** Prints the second page when it is told to. */
class StoppedPrinter extends Printer {
  goOn!: () => void;
  readonly #goesOn = new Promise<void>((resolve) => (this.goOn = resolve));

  override async print(page: Page): Promise<void> {
    if (page.page === 2) await this.#goesOn;
    this.pages.push(page);
  }
}

const printer = new StoppedPrinter();
let redis: RedisProcess;
let operator: INestApplicationContext;
const replicas: INestApplicationContext[] = [];
beforeAll(async () => {
  redis = await RedisProcess.start();
  const locks = RedisLockModule.forRoot({ redis: redis.url, keyPrefix: 'bank-demo:lock:' });
  operator = await NestFactory.createApplicationContext(locks, { logger: false });
});
afterAll(async () => {
  for (const replica of replicas) await replica.close();
  await operator.close();
  await redis.stop();
});

async function startReplica(): Promise<INestApplicationContext> {
  const module = StatementsModule.connectedTo(redis.url, printer);
  const replica = await NestFactory.createApplicationContext(module, { logger: false });
  replicas.push(replica);
  return replica;
}

it('a job keeps its lock over a deploy of its worker; another that finds it busy comes again', async () => {
  const locks = operator.get(LockService);
  const state = async (): Promise<string> => (await locks.inspect('account:ann')).state;

  const old = await startReplica();
  await old.get(Redis).set('balance:ann', 500);
  await old.get(StatementsService).order('ann', 4);
  await until('one page is printed', () => printer.pages.length === 1);
  const posting = { account: 'ann', amount: 100 };
  const { id } = await old.get<Queue>(getQueueToken('postings')).add('salary', posting);
  const salary = async (replica: INestApplicationContext): Promise<Job> =>
    (await replica.get<Queue>(getQueueToken('postings')).getJob(id!))!;
  await until('the posting was begun', async () => (await salary(old)).attemptsStarted > 0);

  const closing = old.close();
  await until('the worker is told', () => old.get(StatementsWorker).worker.isPaused());
  printer.goOn();
  await closing;
  expect(printer.pages).toHaveLength(2);
  expect(await state()).toBe('held'); // by no process
  expect(await locks.tryAcquire('account:ann')).toBeNull();

  const next = await startReplica();
  await until('the posting is done', async () => (await salary(next)).isCompleted());
  expect(printer.pages.map(({ page, balance }) => [page, balance])).toEqual([
    [1, 500],
    [2, 500],
    [3, 500],
    [4, 500],
  ]);
  expect(new Set(printer.pages.map(({ fencingToken }) => fencingToken)).size).toBe(1);
  expect(await next.get(Redis).get('balance:ann')).toBe('600');
  const { attemptsMade, attemptsStarted } = await salary(next);
  expect(attemptsMade).toBe(1);
  expect(attemptsStarted).toBeGreaterThan(1);
  expect(await state()).toBe('free');
});
