import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { Redis } from 'ioredis';
import { CurrentLease, type Lease, Locked } from '../../lib/index.js';
import { PLATFORMS, useBench } from '../support/nest-app.js';

const bench = useBench();
let redis: Redis;
beforeAll(() => {
  redis = new Redis(bench.redis.url);
});
afterAll(() => redis.quit());

/** Answers with the key that is locked, and all that Redis has meanwhile. */
@Controller()
class Accounts {
  @Post('accounts')
  @Locked('account:<id>')
  async post(@Body('id') id: unknown, @CurrentLease() lease?: Lease): Promise<unknown> {
    return { id, key: lease!.key, names: await redis.keys('*') };
  }

  @Get('accounts')
  @Locked('account:<id>')
  async get(@Query('id') id: unknown, @CurrentLease() lease?: Lease): Promise<unknown> {
    return { id, key: lease!.key, names: await redis.keys('*') };
  }

  @Post('deep')
  @Locked('account:<body.account.id>')
  async deep(@Body() body: unknown): Promise<unknown> {
    return body;
  }
}

const TEXTS = [
  'all:1',
  '1}:queue',
  '{1}',
  '*',
  '?[a-z]',
  '%3A',
  '%',
  '..',
  "1' redis.call('FLUSHALL') --",
  "]] redis.call('FLUSHALL') --[[",
  '1\r\n*1\r\n$8\r\nFLUSHALL\r\n',
  '\u0000\u0001\u007f\u0085',
  '\u001b[2J',
  'ключ 😀',
  '__proto__',
  'constructor',
  '<script>alert(1)</script>',
  '99999999999999-nest-redis-lock:shared',
];

describe.each(PLATFORMS)('a request to an application on %s', (platform) => {
  let url: string;
  beforeAll(async () => {
    ({ url } = await bench.server(platform, { controllers: [Accounts] }));
    await redis.set('data', 'untouched');
  });

  const post = async (path: string, body: string): Promise<[number, any]> => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${url}/${path}`, { method: 'POST', headers, body });
    return [answer.status, await answer.json()];
  };

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
