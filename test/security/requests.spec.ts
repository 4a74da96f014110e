import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { PLATFORMS, useBench } from '../support/nest-app.js';
import { Accounts, TEXTS } from './accounts-by-id.js';

const bench = useBench();
let redis: Redis;
beforeAll(() => {
  redis = new Redis(bench.redis.url);
});
afterAll(() => redis.quit());

describe.each(PLATFORMS)('a request to an application on %s', (platform) => {
  let url: string;
  beforeAll(async () => {
    const providers = [{ provide: Redis, useValue: redis }];
    ({ url } = await bench.server(platform, { controllers: [Accounts], providers }));
    await redis.set('data', 'untouched');
  });

  it.each(TEXTS)(
    'locks by a value what the template names, and touches nothing else: %j',
    async (id) => {
      const [status, inBody] = await post('accounts', JSON.stringify({ id }));
      expect(status).toBe(201);
      const inQuery = await (await fetch(`${url}/accounts?id=${encodeURIComponent(id)}`)).json();
      for (const { id: told, key, names } of [inBody, inQuery]) {
        expect(told).toBe(id);
        expect(key).toMatch(/^account:[^:{}\p{Cc}]+$/u);
        expect(decodeURIComponent(key.slice('account:'.length))).toBe(id);
        expect(names.sort()).toEqual(['data', `lock:${key}`, 'lock:{}:fence']);
      }
      expect(await redis.get('data')).toBe('untouched');
    },
  );

  it.each<[string, string]>([
    ['a list', '{"id":["secret"]}'],
    ['an object', '{"id":{"secret":1}}'],
    ['an object that calls itself a text', '{"id":{"toString":"secret","length":1}}'],
    ['null', '{"id":null}'],
    ['nothing', '{"secret":1}'],
    ['half a surrogate pair', String.raw`{"id":"secret\ud800"}`],
    ['90 kB', JSON.stringify({ id: 'secret'.repeat(15_000) })],
    ['what is not the body’s own', '{"account":{"__proto__":{"id":"secret"}}}'],
    ['what a constructor has', '{"account":{"constructor":{"prototype":{"id":"secret"}}}}'],
  ])('is refused with 400 where its value is no part of a key: %s', async (_, body) => {
    const [status, answer] = await post(body.includes('account') ? 'deep' : 'accounts', body);
    expect(status).toBe(400);
    expect(JSON.stringify(answer)).not.toMatch(/secret|stack|node_modules| at /);
    expect(await redis.keys('lock:account*')).toEqual([]);
    expect(({} as { id?: unknown }).id).toBeUndefined();
  });

  it('is refused where it names the value twice', async () => {
    for (const query of ['id=secret&id=b', 'id[]=secret', 'id[toString]=secret']) {
      const answer = await fetch(`${url}/accounts?${query}`);
      expect([answer.status, await answer.text()]).toEqual([
        400,
        expect.not.stringMatching('secret'),
      ]);
    }
  });

  async function post(path: string, body: string): Promise<[number, any]> {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${url}/${path}`, { method: 'POST', headers, body });
    return [answer.status, await answer.json()];
  }
});

it('a text of a hand-over that somebody made up is refused, or finds nothing', async () => {
  const locks = await bench.rival();
  const text = await (await locks.acquire('order:1')).handOver();
  const [version, secret, part] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [
    number,
    string,
    unknown[],
  ];
  const encode = (value: unknown): string =>
    Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
  const altered = (at: number, value: unknown): string =>
    encode([version, secret, part.map((field, nth) => (nth === at ? value : field))]);
  for (const [forged, code] of [
    [encode('{"length":3,"__proto__":[]}'), 'LOCK_KEY'],
    [encode({ 0: version, 1: secret, 2: part, length: 3 }), 'LOCK_KEY'],
    [encode([version, secret]), 'LOCK_KEY'],
    [encode([version + 1, secret, part]), 'LOCK_KEY'],
    [encode([version, secret, Object.assign({ length: part.length }, part)]), 'LOCK_KEY'],
    [altered(0, 'web.1.0123456789a/x'), 'LOCK_KEY'],
    [altered(1, { toString: 'order:1' }), 'LOCK_KEY'],
    [altered(2, 1e300), 'LOCK_KEY'],
    [altered(2, -1), 'LOCK_KEY'],
    [altered(3, '7'), 'LOCK_KEY'],
    [altered(8, '\u001b[2J'), 'LOCK_KEY'],
    ['A'.repeat(10_000_000), 'LOCK_KEY'],
    [`${text}=`, 'LOCK_KEY'],
    [altered(1, 'a{b'), 'LOCK_KEY'],
    [encode([version, 'another', part]), 'LEASE_LOST'],
    [altered(1, 'order:2'), 'LEASE_LOST'],
    [altered(2, Number.MAX_SAFE_INTEGER), 'LEASE_LOST'],
    [altered(7, '__proto__'), 'LEASE_LOST'],
    [encode([version, secret, part, part]), 'LEASE_LOST'],
  ] as const) {
    await expect(locks.restore(forged)).rejects.toMatchObject({ code });
  }
  const lease = await locks.restore(text);
  await expect(locks.restore(text)).rejects.toMatchObject({ code: 'LEASE_LOST' }); // said again
  expect(await lease.release()).toBe(true);
});
