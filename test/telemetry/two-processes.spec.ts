import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freePort, RedisProcess } from '../../tools/redis-server.js';
import { Replica } from '../support/replica.js';
import type { ToldDurations, ToldSpan } from '../support/traced-replica.js';
import { until } from '../support/until.js';

let redis: RedisProcess;
let replicas: Replica[];
let urls: string[];

beforeAll(async () => {
  redis = await RedisProcess.start();
  const ports = [await freePort(), await freePort()];
  urls = ports.map((port) => `http://127.0.0.1:${port}`);
  replicas = await Promise.all(
    ports.map((port) => Replica.start('traced-replica', { redis: redis.url, port })),
  );
});

afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.kill()));
  await redis.stop();
});

async function ask<Answer>(url: string): Promise<Answer> {
  return (await (await fetch(url)).json()) as Answer;
}

describe('two traced services, one asking the other under its lock', () => {
  it('show one trace: request, acquire, hold, and under the hold the other service', async () => {
    const [one, other] = urls as [string, string];
    const next = `${other}/lock?id=7`;
    const answer = await fetch(`${one}/lock?id=42&then=${encodeURIComponent(next)}`);
    expect(await answer.text()).toBe('done');

    const told = await Promise.all(urls.map((url) => ask<ToldSpan[]>(`${url}/spans`)));
    const [mine, theirs] = told as [ToldSpan[], ToldSpan[]];
    const find = (spans: ToldSpan[], name: string): ToldSpan =>
      spans.find((span) => span.name === name)!;
    const chain = [mine, theirs].flatMap((spans) => [
      [find(spans, 'lock.acquire').parent, find(spans, 'GET /lock').id],
      [find(spans, 'lock.hold').parent, find(spans, 'GET /lock').id],
    ]);
    expect(chain.map(([parent]) => parent)).toEqual(chain.map(([, id]) => id));
    expect(find(theirs, 'GET /lock').parent).toBe(find(mine, 'lock.hold').id);
    expect(find(mine, 'GET /lock').parent).toBeUndefined();
    expect(new Set(told.flat().map((span) => span.trace)).size).toBe(1);
  });

  it('show the commands of ioredis beside them', async () => {
    for (const url of urls) {
      const spans = await ask<ToldSpan[]>(`${url}/spans`);
      const request = spans.find(({ name }) => name === 'GET /lock')!;
      const commands = spans.filter(({ name }) => name === 'evalsha' || name === 'eval');
      expect(commands.map(({ parent }) => parent)).toContain(request.id);
    }
  });

  it('say in the spans what the metrics say, and neither key nor token', async () => {
    for (const url of urls) {
      const spans = await ask<ToldSpan[]>(`${url}/spans`);
      const durations = await ask<ToldDurations>(`${url}/durations`);
      for (const [span, metric] of [
        ['lock.acquire', 'lock.wait.duration'],
        ['lock.hold', 'lock.hold.duration'],
      ] as const) {
        const { seconds, attributes } = spans.find(({ name }) => name === span)!;
        const { sum, count } = durations[metric]!['account:<id>']!;
        expect(count).toBe(1);
        expect(seconds).toBeCloseTo(sum, 8);
        expect(attributes).toMatchObject({
          'lock.name': 'account:<id>',
          'lock.mode': 'exclusive',
          'lock.topology': 'redis',
        });
      }
      const ours = spans.filter(({ name }) => name.startsWith('lock.'));
      expect(JSON.stringify([ours, durations])).not.toMatch(/account:\d|token/);
    }
  });
});

describe('callers who wait for another one of their service', () => {
  const CALLERS = 20;

  it('have a link to the hold that was handed on to them, in traces of their own, and nothing says who held the lock', async () => {
    const [url] = urls as [string, string];
    const client = new Redis(redis.url);
    let holder = '';
    let others: Promise<Response>[] = [];
    const othersWait = async (): Promise<void> => {
      holder = (await client.get('lock:account:9')) ?? '';
      others = Array.from({ length: CALLERS }, () => fetch(`${url}/lock?id=9`));
      await until('all wait', async () => (await ask<number>(`${url}/waiting`)) === CALLERS);
    };
    const askedUnderTheLock = createServer((_, response) => {
      const end = (): unknown => response.end();
      void othersWait().then(end, end);
    }).listen(0, '127.0.0.1');
    await once(askedUnderTheLock, 'listening');
    const { port } = askedUnderTheLock.address() as AddressInfo;
    try {
      await (await fetch(`${url}/lock?id=9&then=http://127.0.0.1:${port}`)).text();
      for (const other of others) await (await other).text();
    } finally {
      askedUnderTheLock.close();
      client.disconnect();
    }

    const spans = await ask<ToldSpan[]>(`${url}/spans`);
    const ours = spans.filter(({ name }) => name.startsWith('lock.'));
    const holds = ours.filter(({ name }) => name === 'lock.hold').slice(-1 - CALLERS);
    expect(new Set(holds.map(({ trace }) => trace)).size).toBe(1 + CALLERS);
    // Now and then the lock goes by Redis, so that other processes have their turn.
    const handed = holds.flatMap(({ links }, nth) => (links.length > 0 ? [{ links, nth }] : []));
    expect(handed.length).toBeGreaterThan(0);
    expect(handed.map(({ links }) => links)).toEqual(handed.map(({ nth }) => [holds[nth - 1]!.id]));

    const [ofProcess, own] = holder.split('/') as [string, string];
    expect(ofProcess).toMatch(/\.\d+\./); // host, pid and more
    const told = JSON.stringify([ours, await ask<ToldDurations>(`${url}/durations`)]);
    for (const secret of [ofProcess, own]) expect(told).not.toContain(secret);
  });
});
