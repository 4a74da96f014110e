import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, Get } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import {
  Locked,
  LockService,
  LockStoreError,
  RedisLockModule,
  type RedisLockOptions,
} from 'nest-redis-lock';
import request from 'supertest';
import { freePort, RedisProcess } from '../../tools/redis-server.js';
import { pasted } from './pages.js';

/** Where nobody listens. */
const nobody = `redis://127.0.0.1:${await freePort()}`;
process.env['REDIS_URL'] = nobody; // which the page reads
const operations = await pasted<any>('docs/operations.md');

let closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.reverse()) await close();
  closing = [];
});

@Controller()
class ReportsController {
  @Get('report')
  @Locked('report', { wait: 0 })
  async report(): Promise<string> {
    return 'done';
  }
}

async function application(options: RedisLockOptions, ...imports: object[]) {
  const modules = imports.length > 0 ? imports : [RedisLockModule.forRoot(options)];
  const module = await Test.createTestingModule({
    imports: [...modules, operations.HealthModule] as never[],
    controllers: [operations.LockHealthController, ReportsController],
    providers: [{ provide: APP_FILTER, useClass: operations.BusyFilter }],
  }).compile();
  const app = await module.createNestApplication({ logger: false }).init();
  closing.push(() => app.close());
  return { app, locks: app.get(LockService), http: request(app.getHttpServer()) };
}

async function startRedis(): Promise<RedisProcess> {
  const redis = await RedisProcess.start();
  closing.push(() => redis.stop());
  return redis;
}

describe('what Operations shows', () => {
  it('is a probe that says up, and down', async () => {
    const redis = await startRedis();
    const { http } = await application({ redis: redis.url });
    const ready = await http.get('/health/ready').expect(200);
    expect(ready.body.details.locks).toMatchObject({ status: 'up', topology: 'redis' });
    expect((await http.get('/health/locks').expect(200)).body.status).toBe('up');
    await redis.stop();
    const down = await http.get('/health/locks').expect(503);
    expect(down.body.status).toBe('down');
    expect((await http.get('/health/ready').expect(503)).body.error.locks.status).toBe('down');
  });

  it('is a filter that answers busy in a form of its own', async () => {
    const redis = await startRedis();
    const { locks, http } = await application({ redis: redis.url });
    await http.get('/report').expect(200, 'done');
    await using _ = await locks.acquire('report');
    await http.get('/report').expect(423, { problem: 'busy', hint: 'Try again in a second.' });
  });

  it('starts without Redis when it connects lazily, and a call fails', async () => {
    const { locks } = await application({}, operations.AppModule);
    const failure: unknown = await locks.acquire('a').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(LockStoreError);
    expect((failure as Error).message).toMatch(
      /^Lock "a" was not acquired: Redis could not be used within 1000 ms/,
    );
  });

  it('does not start without Redis otherwise, and says where it looked', async () => {
    await expect(application({ redis: nobody })).rejects.toThrow(
      /^Redis at 127\.0\.0\.1:\d+\/0 could not be used within 5000 ms \(option "connectTimeout"\): .*ECONNREFUSED/,
    );
  });
});
