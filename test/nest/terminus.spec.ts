import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { createRequire } from 'node:module';
import request from 'supertest';
import { LockService, RedisLockModule } from 'nest-redis-lock';
import { LockHealthIndicator } from 'nest-redis-lock/terminus';
import { LockTestingModule } from 'nest-redis-lock/testing';
import { RedisProcess } from '../../tools/redis-server.js';
import { type Platform, PLATFORMS, useBench } from '../support/nest-app.js';
import { until } from '../support/until.js';
import { parts } from './health-routes.js';

Logger.overrideLogger(false);

/** Of Terminus: 11 has no word for what is degraded. */
const knowsDegraded = process.env['NEST'] !== '11';

const bench = useBench();

describe.each(PLATFORMS)('the indicator for Terminus, on %s', (platform: Platform) => {
  let redis: RedisProcess;
  let http: ReturnType<typeof request>;
  let locks: LockService;
  beforeAll(async () => {
    redis = await RedisProcess.start();
    const { app, url } = await bench.server(platform, parts, {
      redis: redis.url,
      commandTimeout: '30s', // no check waits for it
    });
    http = request(url);
    locks = app.get(LockService);
  });
  afterAll(() => redis.stop());

  it('says up, with what there is to know, and no key', async () => {
    await using _ = await locks.acquire('account:42');
    const { body } = await answers(200);
    expect(body).toMatchObject({
      status: 'ok',
      details: {
        locks: {
          status: 'up',
          problems: [],
          topology: 'redis',
          inbox: 'heard',
          held: 1,
          waiting: 0,
          servers: [{ address: `127.0.0.1:${redis.port}/0`, status: 'up' }],
        },
      },
    });
    expect(JSON.stringify(body)).not.toContain('account');
  });

  it('says down with 503 while Redis hangs, and up when it goes on', async () => {
    redis.signal('SIGSTOP');
    const { body } = await answers(503);
    expect(body).toMatchObject({
      status: 'error',
      error: {
        locks: {
          status: 'down',
          problems: [expect.stringMatching(/did not answer within 1000 ms/)],
        },
      },
    });
    redis.signal('SIGCONT');
    await answers(200);
  });

  it('says down with 503 while Redis is gone, and up when it is back', async () => {
    await redis.kill();
    const { body } = await answers(503);
    expect(body.error.locks).toMatchObject({ status: 'down', inbox: 'unheard' });
    await redis.run();
    await answers(200);
  });

  /** Asks until the route answers so. */
  async function answers(status: number) {
    return until(`it answers ${status}`, async () => {
      const answer = await http.get('/health');
      return answer.status === status ? answer : undefined;
    });
  }
});

it('says degraded where Terminus knows the word, else up, and 200', async () => {
  const servers = await Promise.all([1, 2, 3].map(() => RedisProcess.start()));
  const nodes = servers.map(({ url }) => url);
  const { url } = await bench.server('Express', parts, { redis: undefined, nodes });
  await servers[0]!.kill();
  const { body } = await until('it is said', async () => {
    const answer = await request(url).get('/health').expect(200);
    return answer.body.details.locks.problems.length > 0 ? answer : undefined;
  });
  const status = knowsDegraded ? 'degraded' : 'up';
  expect(body.details.locks).toMatchObject({ status, topology: 'quorum' });
  await Promise.all(servers.map((server) => server.stop()));
});

it('looks at the module that is named, and says which is missing', async () => {
  const named = LockTestingModule.forRoot({ name: 'billing' });
  const imports = [...parts.imports, named];
  const { url } = await bench.server('Express', { ...parts, imports });
  const { body } = await request(url).get('/health/billing').expect(200);
  expect(body.details.billing).toMatchObject({ status: 'up', topology: 'memory' });

  const app = await bench.app(parts);
  await expect(app.get(LockHealthIndicator).isHealthy('a', { module: 'billing' })).rejects.toThrow(
    "LockHealthIndicator found no LockService: import RedisLockModule.forRoot() with name: 'billing'.",
  );
});

it('finds the LockService of a module that is not global', async () => {
  const locks = RedisLockModule.forRoot({ redis: bench.redis.url, name: 'b', isGlobal: false });
  const app = await bench.app({ ...parts, imports: [...parts.imports, locks] });
  const found = await app.get(LockHealthIndicator).isHealthy('b', { module: 'b', timeout: '5s' });
  expect(found.b.status).toBe('up');
});

it('runs with the Terminus of its Nest', () => {
  const { version } = createRequire(
    new URL(knowsDegraded ? '../../package.json' : '../nest-11/package.json', import.meta.url),
  )('@nestjs/terminus/package.json') as { version: string };
  expect(version.split('.')[0]).toBe(knowsDegraded ? '12' : '11');
});
