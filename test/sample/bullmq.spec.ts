import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { getQueueToken } from '@nestjs/bullmq';
import { type INestApplicationContext, Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import type { Job, Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { LockService } from '../../lib/index.js';
import { BankModule, WorkerModule } from '../../sample/bullmq/bank.module.js';
import { type Page, Printer } from '../../sample/bullmq/printer.js';
import { StatementsService } from '../../sample/bullmq/statements.service.js';
import { StatementsWorker } from '../../sample/bullmq/statements.worker.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { until } from '../support/until.js';

/** Prints the second page when it is told to. */
@Injectable()
class StoppedPrinter extends Printer {
  goOn!: () => void;
  readonly #goesOn = new Promise<void>((resolve) => (this.goOn = resolve));

  override async print(account: string, page: Page): Promise<void> {
    if (page.page === 2) await this.#goesOn;
    await super.print(account, page);
  }
}

let redis: RedisProcess;
let bank: INestApplicationContext;
const apps = new Set<INestApplicationContext>();
beforeAll(async () => {
  redis = await RedisProcess.start();
  const module = Test.createTestingModule({ imports: [BankModule.connectedTo(redis.url)] });
  bank = await (await module.compile()).init();
  apps.add(bank);
});
afterAll(async () => {
  for (const app of apps) await app.close();
  await redis.stop();
});

it('a job keeps its lock over a deploy of its worker; another that finds it busy comes again', async () => {
  const locks = bank.get(LockService);
  const state = async (): Promise<string> => (await locks.inspect('account:ann')).state;
  const printed = () => bank.get(Printer).printed('ann');
  const postings = bank.get<Queue>(getQueueToken('postings'));

  await bank.get(Redis).set('balance:ann', 500);
  await bank.get(StatementsService).order('ann', 4);
  const old = await startWorker(StoppedPrinter);
  await until('one page is printed', async () => (await printed()).length === 1);
  const { id } = await postings.add('salary', { account: 'ann', amount: 100 });
  const salary = async (): Promise<Job> => (await postings.getJob(id!))!;
  await until('the posting was begun', async () => (await salary()).attemptsStarted > 0);

  apps.delete(old);
  const closing = old.close();
  await until('the worker is told', () => old.get(StatementsWorker).worker.isPaused());
  (old.get(Printer) as StoppedPrinter).goOn();
  await closing;
  expect(await printed()).toHaveLength(2);
  expect(await state()).toBe('held'); // by no process
  expect(await locks.tryAcquire('account:ann')).toBeNull();

  await startWorker();
  await until('the posting is done', async () => (await salary()).isCompleted());
  const pages = await printed();
  expect(pages.map(({ page, balance }) => [page, balance])).toEqual([
    [1, 500],
    [2, 500],
    [3, 500],
    [4, 500],
  ]);
  expect(new Set(pages.map(({ fencingToken }) => fencingToken)).size).toBe(1);
  expect(await bank.get(Redis).get('balance:ann')).toBe('600');
  const { attemptsMade, attemptsStarted } = await salary();
  expect(attemptsMade).toBe(1);
  expect(attemptsStarted).toBeGreaterThan(1);
  expect(await state()).toBe('free');
});

it('an account is free again where its job could not be queued', async () => {
  const add = jest
    .spyOn(bank.get<Queue>(getQueueToken('statements')), 'add')
    .mockRejectedValueOnce(new RangeError('no room'));
  await expect(bank.get(StatementsService).order('bob', 1)).rejects.toThrow('no room');
  add.mockRestore();
  expect((await bank.get(LockService).inspect('account:bob')).state).toBe('free');
});

async function startWorker(printer: typeof Printer = Printer): Promise<INestApplicationContext> {
  const module = Test.createTestingModule({ imports: [WorkerModule.connectedTo(redis.url)] });
  const app = await module.overrideProvider(Printer).useClass(printer).compile();
  apps.add(await app.init());
  return app;
}
