import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { LockNotAcquiredError, LockService } from 'nest-redis-lock';
import { NestBench } from '../support/nest-app.js';
import { until } from '../support/until.js';
import { pasted } from './pages.js';

/** Its unit test is a test of this file. What the first block says is tried by pasted.spec.ts. */
const readme = await pasted<any>('README.md');

let bench: NestBench;
let app: INestApplication;
let locks: LockService;
let work: any;
beforeAll(async () => {
  bench = await NestBench.start();
  app = await bench.app({ providers: [readme.WorkService] });
  locks = app.get(LockService);
  work = app.get(readme.WorkService);
});
afterAll(() => bench.stop());

describe('the recipes of the README', () => {
  it('refuse at once, or skip', async () => {
    await using _ = await locks.acquire('report:1');
    await expect(work.create('1')).rejects.toThrow(LockNotAcquiredError);
    expect(await work.refresh('1')).toBeUndefined();
  });

  it('run a job on one replica, and keep its lock taken', async () => {
    await work.sendDigest();
    expect((await locks.inspect('digest')).state).toBe('kept');
    expect(await work.sendDigest()).toBeUndefined();
  });

  it('let three in at a time', async () => {
    const three = await locks.semaphore('export', { permits: 3 }).acquire({ count: 3 });
    const fourth = work.exportAll();
    await until('the fourth waits', async () => (await locks.inspect('export')).waiting === 1);
    await three.release();
    await fourth;
  });

  it('lock two accounts, there and back', async () => {
    const calls = [1, 2, 3, 4, 5].flatMap((amount) => [
      work.transfer('a', 'b', amount),
      work.transfer('b', 'a', amount),
    ]);
    await Promise.all(calls);
    for (const key of ['account:a', 'account:b']) {
      const elsewhere = await locks.acquire(key);
      const transfer = work.transfer('a', 'b', 1);
      await until('it waits', async () => (await locks.inspect(key)).waiting === 1);
      await elsewhere.release();
      await transfer;
    }
  });
});
