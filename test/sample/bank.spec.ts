import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import request from 'supertest';
import { AppModule } from '../../sample/app.module.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { until } from '../support/until.js';

let redis: RedisProcess;
let replicas: [INestApplication, INestApplication];
beforeAll(async () => {
  redis = await RedisProcess.start();
  const replica = async (): Promise<INestApplication> => {
    const app = await NestFactory.create(AppModule.connectedTo(redis.url), { logger: false });
    return app.listen(0).then(() => app);
  };
  replicas = [await replica(), await replica()];
});
afterAll(async () => {
  for (const replica of replicas) await replica.close();
  await redis.stop();
});

/** Sends to one replica or to the other. */
async function post(turn: number, path: string, body: object): Promise<request.Response> {
  return request(replicas[turn % 2]!.getHttpServer())
    .post(`/accounts/${path}`)
    .send(body);
}

async function balance(id: string): Promise<number> {
  const { body } = await request(replicas[0].getHttpServer()).get(`/accounts/${id}`);
  return (body as { balance: number }).balance;
}

it('loses no deposit and no withdrawal, wherever they arrive', async () => {
  await post(0, 'alice/deposits', { amount: 1_000 });
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      post(i, i % 4 < 2 ? 'alice/deposits' : 'alice/withdrawals', { amount: i % 4 < 2 ? 3 : 1 }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(40).fill(201));
  expect(await balance('alice')).toBe(1_000 + 20 * 3 - 20);
});

it('gives nobody money that is not there, however many ask', async () => {
  await post(0, 'bob/deposits', { amount: 5 });
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, i) => post(i, 'bob/withdrawals', { amount: 1 })),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
  expect(answers.filter(({ status }) => status === 422)).toHaveLength(7);
  expect(await balance('bob')).toBe(0);
});

it('lets transfers cross each other, and one to the same account', async () => {
  await Promise.all(['carol', 'dave'].map((id) => post(0, `${id}/deposits`, { amount: 100 })));
  await Promise.all(
    Array.from({ length: 20 }, (_, i) => {
      const [from, to] = i % 4 < 2 ? ['carol', 'dave'] : ['dave', 'carol'];
      return post(i, `${from}/transfers`, { to, amount: i % 4 < 2 ? 2 : 1 });
    }),
  );
  expect(await balance('carol')).toBe(100 - 20 + 10);
  expect(await balance('dave')).toBe(100 + 20 - 10);
  expect((await post(0, 'carol/transfers', { to: 'carol', amount: 7 })).status).toBe(201);
  expect(await balance('carol')).toBe(90);
});

it('shows who holds the lock of an account, and who waits for it', async () => {
  const audit = post(0, 'erin/audits', { seconds: 1 });
  const lock = async (): Promise<Record<string, unknown>> =>
    (await request(replicas[1].getHttpServer()).get('/accounts/erin/lock')).body;
  await until('the audit has begun', async () => (await lock())['state'] === 'held');
  const deposit = post(1, 'erin/deposits', { amount: 1 });
  await until('the deposit waits', async () => (await lock())['waiting'] === 1);
  expect(await lock()).toMatchObject({
    key: 'account:erin',
    state: 'held',
    holder: { pid: process.pid },
    waiting: 1,
  });
  expect((await audit).body).toEqual({ balance: 0, bookings: 0 });
  expect((await deposit).body).toEqual({ balance: 1, bookings: 1 });
});

it('shows its locks on a page', async () => {
  const { headers, text } = await request(replicas[0].getHttpServer()).get('/locks').expect(200);
  expect([headers['content-type'], text]).toEqual([
    'text/html; charset=utf-8',
    expect.stringContaining('<title>Locks</title>'),
  ]);
});
