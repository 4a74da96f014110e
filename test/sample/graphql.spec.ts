import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import request from 'supertest';
import { LockService } from '../../lib/index.js';
import { Clerk } from '../../sample/graphql/clerk.js';
import { LoansModule } from '../../sample/graphql/loans.module.js';
import { Scoring } from '../../sample/graphql/scoring.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { until } from '../support/until.js';

let redis: RedisProcess;
const replicas: INestApplication[] = [];
beforeAll(async () => {
  redis = await RedisProcess.start();
  for (let replica = 0; replica < 2; replica += 1) {
    const app = await NestFactory.create(LoansModule.connectedTo(redis.url), {
      logger: false,
      forceCloseConnections: true,
    });
    replicas.push(await app.listen(0, '127.0.0.1').then(() => app));
  }
});
afterAll(async () => {
  for (const replica of replicas) await replica.close();
  await redis.stop();
});

it('tells a client at once that the lock is busy, by a code and without the key', async () => {
  const lease = await replicas[0]!.get(LockService).acquire('loan:secret');
  const sent = performance.now();
  const { body } = await request(replicas[1]!.getHttpServer())
    .post('/graphql')
    .send({ query: 'mutation { approve(id: "secret", clerk: "ann") { approvedBy } }' });
  expect(performance.now() - sent).toBeLessThan(5_000); // a call without wait: 0 waits for 10 s
  expect(lease.held).toBe(true);
  expect(body).toMatchObject({
    data: null,
    errors: [{ path: ['approve'], extensions: { code: 'LOCK_NOT_ACQUIRED', retryAfter: 1 } }],
  });
  expect(JSON.stringify(body)).not.toContain('secret');
  await lease.release();
});

it('has a client that asks again, and gets its turn', async () => {
  const lease = await replicas[0]!.get(LockService).acquire('loan:6');
  const clerk = new Clerk('ann', await replicas[1]!.getUrl());
  const approved = clerk.approve('6');
  await until('the clerk was refused', () => clerk.refusals.length > 0);
  await lease.release();
  expect(await approved).toBe('ann');
});

it('asks the agency once for a loan that two clerks approve at the same time', async () => {
  const asked = () => replicas.reduce((sum, replica) => sum + replica.get(Scoring).questions, 0);
  const before = asked();
  const urls = await Promise.all(replicas.map((replica) => replica.getUrl()));
  const approvers = await Promise.all(
    urls.map((url, nth) => new Clerk(`clerk ${nth}`, url).approve('7')),
  );
  expect(new Set(approvers).size).toBe(1);
  expect(asked()).toBe(before + 1);
});
