import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import request, { type Response } from 'supertest';
import { AppModule } from '../../sample/app.module.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { until } from '../support/until.js';

let redis: RedisProcess;
let bank: INestApplication;
beforeAll(async () => {
  redis = await RedisProcess.start();
  bank = await NestFactory.create(AppModule.connectedTo(redis.url), { logger: false });
  await bank.listen(0, '127.0.0.1');
});
afterAll(async () => {
  await bank.close();
  await redis.stop();
});

async function get(path: string): Promise<Response> {
  return request(bank.getHttpServer()).get(path);
}

async function post(path: string, body: object): Promise<Response> {
  return request(bank.getHttpServer()).post(`/accounts/${path}`).send(body);
}

/** The value of a metric of the lock of an account, as Prometheus reads it. */
async function metric(name: string): Promise<number> {
  const { text } = await get('/metrics');
  const line = new RegExp(`^${name}\\{[^}]*lock_name="account:<id>"[^}]*\\} (\\S+)$`, 'm');
  return Number(line.exec(text)?.[1] ?? 0);
}

it('GET /metrics counts what holds a lock, what waits for it and what had it, under its name alone', async () => {
  const audit = post('secret/audits', { seconds: 2 });
  await until('the audit has begun', async () => (await metric('lock_held')) === 1);
  const deposit = post('secret/deposits', { amount: 1 });
  await until('the deposit waits', async () => (await metric('lock_waiting')) === 1);
  expect([(await audit).status, (await deposit).status]).toEqual([201, 201]);
  expect(await metric('lock_acquire_attempts_total')).toBe(2);
  expect(await metric('lock_hold_duration_seconds_count')).toBe(2);
  expect([await metric('lock_held'), await metric('lock_waiting')]).toEqual([0, 0]);
  const { headers, text } = await get('/metrics');
  expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(text).not.toContain('secret');
});

it('GET /health is 200 while locks can be had, and 503 while Redis is gone', async () => {
  const up = await get('/health');
  expect([up.status, up.body.status, up.body.info.locks.status]).toEqual([200, 'ok', 'up']);
  await redis.kill();
  const down = await until('the bank is down', async () => {
    const answer = await get('/health');
    return answer.status === 503 ? answer : undefined;
  });
  expect(down.body).toMatchObject({ status: 'error', error: { locks: { status: 'down' } } });
  await redis.run();
  await until('the bank is up again', async () => (await get('/health')).status === 200);
});
