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
import { load } from 'js-yaml';
import { once } from 'node:events';
import { get } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import request from 'supertest';
import { freePort, RedisProcess } from '../../tools/redis-server.js';
import { closeAll, closing } from '../support/closing.js';
import { Gate } from '../support/gate.js';
import { pasted, textOf } from './pages.js';

/** Where nobody listens. */
const nobody = `redis://127.0.0.1:${await freePort()}`;
const operations = await pasted<any>('docs/operations.md');

afterEach(closeAll);

@Controller()
class ReportsController {
  @Get('report')
  @Locked('report', { wait: 0 })
  async report(): Promise<string> {
    return 'done';
  }

  @Get('page')
  @Locked('page')
  async page(): Promise<string> {
    return 'page';
  }
}

describe('what Operations shows', () => {
  it('is a probe that says up, and down', async () => {
    const redis = await startRedis();
    const { http } = await application({ redis: redis.url });
    const ready = await http.get('/health/ready').expect(200);
    expect(ready.body.details.locks).toMatchObject({ status: 'up', topology: 'redis' });
    await redis.stop();
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
    const { locks } = await application({ redis: nobody, lazyConnect: true });
    const failure: unknown = await locks.acquire('a').catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(LockStoreError);
    expect((failure as Error).message).toMatch(
      /^Lock "a" was not acquired: Redis could not be used within 2000 ms/,
    );
  });

  it('does not start without Redis otherwise, and says where it looked', async () => {
    await expect(application({ redis: nobody })).rejects.toThrow(
      /^Redis at 127\.0\.0\.1:\d+\/0 could not be used within 5000 ms \(option "connectTimeout"\): .*ECONNREFUSED/,
    );
  });
});

describe('what Operations says of Kubernetes', () => {
  const blocks = [...textOf('docs/operations.md').matchAll(/^```yaml\n([^]*?)^```$/gm)];
  const [pod, budget] = blocks.map(([, yaml]) => load(yaml!) as any);

  it('is YAML, with probes of routes that the page serves: liveness asks for no Redis', async () => {
    expect(budget).toMatchObject({ kind: 'PodDisruptionBudget', spec: { maxUnavailable: 1 } });
    const [{ lifecycle, livenessProbe, readinessProbe }] = pod.containers;
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(10 + lifecycle.preStop.sleep.seconds);
    const redis = await startRedis();
    const { http } = await application({ redis: redis.url });
    await http.get(readinessProbe.httpGet.path).expect(200);
    await redis.stop();
    await http.get(readinessProbe.httpGet.path).expect(503);
    await http.get(livenessProbe.httpGet.path).expect(200);
  });

  /** A replica whose shutdown, once it has begun, goes on until the gate is open. */
  async function replica(redis: string, gate: Gate) {
    const begun = new Gate();
    const other = { beforeApplicationShutdown: () => (begun.open(), gate.opened) };
    const providers = [{ provide: 'other', useValue: other }];
    const locks = RedisLockModule.forRoot({ redis });
    const { app } = await application({}, locks, { module: class Other {}, providers });
    await app.listen(0, '127.0.0.1');
    const { port } = app.getHttpServer().address() as AddressInfo;
    return { port, shutDown: () => (void app.close(), begun.opened) };
  }

  /** Passes each connection on to the next of `ports`, and answers with its own. */
  async function balancer(ports: readonly number[]): Promise<number> {
    let nth = 0;
    const server = createServer((client) => {
      const replica = connect(ports[nth++ % ports.length]!, '127.0.0.1');
      replica.on('error', () => client.destroy());
      client.on('error', () => replica.destroy());
      client.pipe(replica).pipe(client);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closing.push(async () => server.close());
    return (server.address() as AddressInfo).port;
  }

  async function answers(port: number): Promise<number[]> {
    const all: number[] = [];
    for (let nth = 0; nth < 10; nth += 1) {
      const [response] = await once(get({ port, path: '/page', agent: false }), 'response');
      all.push(response.resume().statusCode);
    }
    return all;
  }

  it.each([
    ['without a pause, a pod refuses what is routed to it after SIGTERM', false, 5],
    ['with a pause, it refuses nothing: it is taken out before SIGTERM', true, 0],
  ])('%s', async (_, isPaused, refused) => {
    const redis = await startRedis();
    const gate = new Gate();
    const [old, other] = [await replica(redis.url, gate), await replica(redis.url, gate)];
    const ports = [old.port, other.port];
    const port = await balancer(ports);
    if (!isPaused) await old.shutDown(); // as SIGTERM does
    const statuses = await answers(port);
    ports.shift(); // taken out
    if (isPaused) await old.shutDown();
    statuses.push(...(await answers(port)));
    gate.open();
    expect(statuses.filter((status) => status === 503)).toHaveLength(refused);
    expect(statuses.filter((status) => status === 200)).toHaveLength(20 - refused);
  });
});

async function application(options: RedisLockOptions, ...imports: object[]) {
  const modules = imports.length > 0 ? imports : [RedisLockModule.forRoot(options)];
  const module = await Test.createTestingModule({
    imports: [...modules, operations.HealthModule] as never[],
    controllers: [ReportsController],
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
