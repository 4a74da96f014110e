import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import type { LockService } from '../../lib/index.js';
import { Balance } from '../support/balance.js';
import { NestBench, PLATFORMS } from '../support/nest-app.js';
import { Accounts } from './bank-routes.js';

let bench: NestBench;
let locks: LockService;
let admin: Redis;
beforeAll(async () => {
  bench = await NestBench.start();
  locks = await bench.rival();
  admin = new Redis(bench.redis.url);
});
afterAll(async () => {
  admin.disconnect();
  await bench.stop();
});

describe.each(PLATFORMS)('a route under @Locked on %s', (platform) => {
  let url: string;
  let balance: Balance;
  beforeAll(async () => {
    const providers = [Balance, { provide: Redis, useValue: admin }];
    const server = await bench.server(platform, { controllers: [Accounts], providers });
    url = `${server.url}/accounts`;
    balance = server.app.get(Balance);
  });

  const get = async (path: string): Promise<unknown> => (await fetch(url + path)).json();

  it('has one key for 007 and 7, because pipes run first', async () => {
    for (const place of ['above', 'below']) {
      expect(await get(`/${place}/007`)).toEqual({ id: 7, key: 'account:7' });
      expect(await get(`/${place}/7`)).toEqual({ id: 7, key: 'account:7' });
    }
  });

  it('has two keys for 007 and 7 under @LockedRequest, because pipes run later', async () => {
    expect(await get('/request/007')).toEqual({ id: 7, key: 'account:007' });
    expect(await get('/request/7')).toEqual({ id: 7, key: 'account:7' });
  });

  it('keeps its status, its headers and its body', async () => {
    const before = balance.value;
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        fetch(`${url}/deposits`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ account: 'a', amount: 1 }),
        }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect(answers[0]!.headers.get('x-bank')).toBe('yes');
    const bodies = await Promise.all(
      answers.map(async (answer) => ((await answer.json()) as { balance: number }).balance),
    );
    expect(bodies.sort((a, b) => a - b)).toEqual(bodies.map((_, at) => before + at + 1));
  });

  it('asks its guards and pipes before the lock', async () => {
    const lease = await locks.acquire('account:1');
    expect((await fetch(`${url}/guarded/1`)).status).toBe(403);
    expect((await fetch(`${url}/above/x`)).status).toBe(400);
    await lease.release();
  });

  it('has given the lock back before the client has its answer', async () => {
    for (let round = 0; round < 50; round += 1) {
      const answer = await fetch(`${url}/quick/${platform}`);
      expect([answer.status, await answer.text()]).toEqual([
        200,
        `${platform} /accounts/quick/${platform}`,
      ]);
      expect((await locks.inspect(`account:${platform}`)).state).toBe('free');
    }
  });

  it.each(['slow', 'slow-request'])('even when Redis takes its time: %s', async (route) => {
    const answer = await fetch(`${url}/${route}/slow`);
    expect(await admin.exists('lock:account:slow')).toBe(0);
    expect(await answer.text()).toBe('slow');
  });

  it('is not found where it never was', async () => {
    expect((await fetch(`${url}/nowhere`)).status).toBe(404);
  });
});
