import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { HttpException, INestApplication } from '@nestjs/common';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LockNotAcquiredError, LockService } from 'nest-redis-lock';
import { NestBench } from '../support/nest-app.js';
import { until } from '../support/until.js';
import { pasted } from './pages.js';

/** Its unit test is a test of this file. What the first block says is tried by pasted.spec.ts. */
const readme = await pasted<any>('README.md');

let bench: NestBench;
let app: INestApplication;
let locks: LockService;
let silent: Server;
beforeAll(async () => {
  bench = await NestBench.start();
  const { ReportsService, DigestService, ExportsService, TransfersService, ImportService } = readme;
  app = await bench.app({
    providers: [ReportsService, DigestService, ExportsService, TransfersService, ImportService],
  });
  locks = app.get(LockService);
  silent = createServer(() => {}).listen(0, '127.0.0.1');
  await once(silent, 'listening');
});
afterAll(async () => {
  silent.closeAllConnections();
  silent.close();
  await bench.stop();
});

describe('the recipes of the README', () => {
  it('refuse at once, after two seconds with 423, or skip', async () => {
    const reports = app.get(readme.ReportsService);
    const lease = await locks.acquire('report:1');
    await expect(reports.create('1')).rejects.toThrow(LockNotAcquiredError);
    expect(await reports.refresh('1')).toBeUndefined();
    const refused = await reports.update('1').catch((error: HttpException) => error.getStatus());
    expect(refused).toBe(423);
    await lease.release();
    await reports.update('1');
  });

  it('run a job on one replica, and keep its lock taken', async () => {
    const digest = app.get(readme.DigestService);
    await digest.send();
    expect((await locks.inspect('digest')).state).toBe('kept');
    expect(await digest.send()).toBeUndefined();
  });

  it('let three in at a time', async () => {
    const three = await locks.semaphore('export', { permits: 3 }).acquire({ count: 3 });
    const fourth = app.get(readme.ExportsService).create();
    await until('the fourth waits', async () => (await locks.inspect('export')).waiting === 1);
    await three.release();
    await fourth;
  });

  it('lock two accounts, there and back', async () => {
    const transfers = app.get(readme.TransfersService);
    const calls = [1, 2, 3, 4, 5].flatMap((amount) => [
      transfers.transfer('a', 'b', amount),
      transfers.transfer('b', 'a', amount),
    ]);
    await Promise.all(calls);
    for (const key of ['account:a', 'account:b']) {
      const elsewhere = await locks.acquire(key);
      const transfer = transfers.transfer('a', 'b', 1);
      await until('it waits', async () => (await locks.inspect(key)).waiting === 1);
      await elsewhere.release();
      await transfer;
    }
  });

  it('end a long job when its lock is lost', async () => {
    const { port } = silent.address() as AddressInfo;
    const asked = once(silent, 'request');
    const lost = app
      .get(readme.ImportService)
      .run([`http://127.0.0.1:${port}/`])
      .catch((error: unknown) => error);
    await asked;
    await locks.forceRelease('import');
    expect(await lost).toMatchObject({ code: 'LEASE_LOST', reason: 'forced' });
  });
});
