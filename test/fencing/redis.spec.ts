import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import {
  fencedRedis,
  type FencedRedisClient,
  LockKeyError,
  LockOptionsError,
  StaleFencingTokenError,
} from '../../lib/index.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { LockProcess } from '../support/lock-process.js';
import { until } from '../support/until.js';

let server: RedisProcess;
let redis: Redis;
beforeAll(async () => {
  server = await RedisProcess.start();
  redis = new Redis(server.url);
});
beforeEach(() => redis.flushall());
afterAll(async () => {
  redis.disconnect();
  await server.stop();
});

/** How a write ended. */
function outcome(write: Promise<unknown>): Promise<unknown> {
  return write.catch((error: unknown) =>
    error instanceof StaleFencingTokenError ? `stale: ${error.token} < ${error.newest}` : error,
  );
}

describe('a write to Redis under a fencing token', () => {
  it('goes through with the newest token, however often, and is refused with an older one', async () => {
    expect(await fencedRedis(redis, 5).set('balance', 50)).toBe('OK');
    expect(await fencedRedis(redis, 5).set('balance', 51)).toBe('OK');
    expect(await fencedRedis(redis, 7).set('balance', 70)).toBe('OK');
    expect(await outcome(fencedRedis(redis, 5).set('balance', 52))).toBe('stale: 5 < 7');
    expect(await redis.get('balance')).toBe('70');
  });

  it('is refused with an error that says what was written, and under which tokens', async () => {
    await fencedRedis(redis, 7).set('balance', 70);
    const error = await fencedRedis(redis, 5)
      .set('balance', 1)
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StaleFencingTokenError);
    expect(error).toMatchObject({
      code: 'STALE_FENCING_TOKEN',
      resource: 'balance',
      key: 'balance',
      token: 5,
      newest: 7,
    });
  });

  it('takes a lease, and names its lock when it comes too late', async () => {
    const locks = new LockProcess({ redis: server.url });
    const late = await locks.acquire('account:1');
    await late.release();
    const next = await locks.acquire('account:1');
    await fencedRedis(redis, next).set('balance', 'by the next');
    await expect(fencedRedis(redis, late).set('balance', 'too late')).rejects.toMatchObject({
      key: 'account:1',
      resource: 'balance',
      token: late.fencingToken,
      newest: next.fencingToken,
    });
    expect(await redis.get('balance')).toBe('by the next');
    const unfenced = await locks.acquire('other', { fencing: false });
    expect(() => fencedRedis(redis, unfenced)).toThrow(LockOptionsError);
    await locks.close();
  });

  it('keeps apart tokens that differ in their last digit', async () => {
    const token = Number.MAX_SAFE_INTEGER;
    await fencedRedis(redis, token).set('balance', 'newest');
    expect(await outcome(fencedRedis(redis, token - 1).set('balance', 'older'))).toBe(
      `stale: ${token - 1} < ${token}`,
    );
  });

  it('is any command on one key, with its own reply', async () => {
    const fenced = fencedRedis(redis, 5);
    expect(await fenced.hset('account', { name: 'Ann', balance: 70 })).toBe(2);
    expect(await fenced.call('HINCRBY', 'account', 'balance', -30)).toBe(40);
    expect(await fenced.call('hget', 'account', 'nothing')).toBeNull();
    expect(await fenced.call('RPUSH', 'log', 'a', 'b')).toBe(2);
    expect(await fenced.set('account:once', 1, 'NX')).toBe('OK');
    expect(await fenced.set('account:once', 2, 'NX')).toBeNull();
    expect(await fenced.del('account:once')).toBe(1);
    expect(await redis.hgetall('account')).toEqual({ name: 'Ann', balance: '40' });
    expect(await outcome(fencedRedis(redis, 4).call('HINCRBY', 'account', 'balance', 1))).toMatch(
      'stale',
    );
    expect(await outcome(fencedRedis(redis, 4).del('account:once'))).toMatch('stale');
  });

  it('is refused before anything is sent where it has more operands than a script may hand on', async () => {
    const fields = (count: number): Record<string, number> =>
      Object.fromEntries(Array.from({ length: count }, (_, nth) => [`f${nth}`, nth]));
    await expect(fencedRedis(redis, 5).hset('large', fields(3_951))).rejects.toThrow(
      'HSET has 7902 operands',
    );
    expect(await redis.keys('*large*')).toEqual([]);
    expect(await fencedRedis(redis, 5).hset('large', fields(3_950))).toBe(3_950);
  });

  it('goes through a client that reads numbers as texts, with its own reply', async () => {
    const client = redis.duplicate({ stringNumbers: true });
    expect(await fencedRedis(client, 7).hset('account', { balance: 70 })).toBe('1');
    expect(await fencedRedis(client, 7).set('account:once', 1)).toBe('OK');
    const second = fencedRedis(client, 5).eval('return 1', ['free', 'account']);
    await expect(second).rejects.toMatchObject({ resource: 'account', token: 5, newest: 7 });
    client.disconnect();
  });

  it('is no command that writes other keys as well', async () => {
    const fenced = fencedRedis(redis, 5);
    for (const [command, ...operands] of [
      ['mset', 1, 'b', 2],
      ['MSETEX', 'b', 2],
      ['SWAPDB', 1],
      ['RENAME', 'b'],
      ['DEL', 'b'],
      ['sunionstore', 'b'],
      ['XGROUP', 'b'],
    ] as [string, ...(string | number)[]][]) {
      await expect(fenced.call(command, 'a', ...operands)).rejects.toThrow(LockOptionsError);
    }
    expect(await redis.keys('*')).toEqual([]);
  });

  it('lets no older one in after an attempt that failed half-way', async () => {
    await redis.set('text', 'no list');
    await expect(fencedRedis(redis, 7).call('RPUSH', 'text', 1)).rejects.toThrow('WRONGTYPE');
    expect(await outcome(fencedRedis(redis, 5).set('text', 'older'))).toBe('stale: 5 < 7');
  });

  it('of many at once leaves the one with the newest token, in whatever order they come', async () => {
    const tokens = Array.from({ length: 40 }, (_, at) => at + 1);
    for (let turn = 0; turn < 20; turn += 1) {
      tokens.sort(() => Math.random() - 0.5);
      await Promise.all(
        tokens.map((token) => outcome(fencedRedis(redis, token).set(`k${turn}`, token))),
      );
      expect(await redis.get(`k${turn}`)).toBe('40');
    }
  });
});

describe('a script under a fencing token', () => {
  const TRANSFER = `
    redis.call('DECRBY', KEYS[1], ARGV[1])
    return redis.call('INCRBY', KEYS[2], ARGV[1]) -- with a comment at its end`;

  it('runs with its own keys and arguments, and with its own reply', async () => {
    const fenced = fencedRedis(redis, 5);
    expect(await fenced.eval(TRANSFER, ['a', 'b'], [30])).toBe(30);
    expect(await redis.mget('a', 'b')).toEqual(['-30', '30']);
    expect(
      await fenced.eval('return { #KEYS, #ARGV, KEYS[1], ARGV[2] }', ['a'], ['x', 'y']),
    ).toEqual([1, 2, 'a', 'y']);
    expect(await fenced.eval('return nil', ['a'])).toBeNull();
    expect(await fenced.eval("return redis.status_reply('DONE')", ['a'])).toBe('DONE');
    await expect(fenced.eval('return 1', [])).rejects.toThrow(LockOptionsError);
    await expect(fenced.eval("return redis.error_reply('MINE own')", ['a'])).rejects.toThrow(
      'MINE own',
    );
  });

  it('is refused whole when one of its keys has seen a newer token', async () => {
    await fencedRedis(redis, 7).set('b', 0);
    await expect(fencedRedis(redis, 5).eval(TRANSFER, ['a', 'b'], [30])).rejects.toMatchObject({
      resource: 'b',
      newest: 7,
    });
    expect(await redis.mget('a', 'b')).toEqual([null, '0']);
    expect(await fencedRedis(redis, 4).set('a', 1)).toBe('OK');
  });

  it('guards each of its keys afterwards', async () => {
    await fencedRedis(redis, 7).eval(TRANSFER, ['a', 'b'], [30]);
    expect(await outcome(fencedRedis(redis, 5).set('a', 1))).toBe('stale: 5 < 7');
    expect(await outcome(fencedRedis(redis, 5).set('b', 1))).toBe('stale: 5 < 7');
  });

  it('is told its values as values, whatever they look like', async () => {
    const hostile = `]] end redis.call('FLUSHALL') --"'\n`;
    await fencedRedis(redis, 5).set(hostile, hostile);
    await fencedRedis(redis, 5).eval(
      "return redis.call('SET', KEYS[1], ARGV[1])",
      ['x'],
      [hostile],
    );
    expect(await redis.mget(hostile, 'x')).toEqual([hostile, hostile]);
  });

  it('is sent by its hash, and by its text only when Redis has lost it', async () => {
    await redis.script('FLUSH');
    const sent: string[] = [];
    const client: FencedRedisClient = {
      options: redis.options,
      eval: (...args) => (sent.push('eval'), redis.eval(...args)),
      evalsha: (...args) => (sent.push('evalsha'), redis.evalsha(...args)),
    };
    await fencedRedis(client, 5).set('a', 1);
    await fencedRedis(client, 5).set('a', 2);
    expect(sent).toEqual(['evalsha', 'eval', 'evalsha']);
  });
});

describe('the newest token of a key', () => {
  it('is remembered for 30 days after a write, or as long as one says', async () => {
    await fencedRedis(redis, 5).set('a', 1);
    await fencedRedis(redis, 5, { retention: '1h' }).set('b', 1);
    await fencedRedis(redis, 5, { retention: Infinity }).set('c', 1);
    expect(await redis.pttl('{a}:fenced-by')).toBeGreaterThan(30 * 86_400_000 - 10_000);
    expect(await redis.pttl('{b}:fenced-by')).toBeLessThanOrEqual(3_600_000);
    expect(await redis.pttl('{c}:fenced-by')).toBe(-1);
    expect(() => fencedRedis(redis, 5, { retention: 1 })).toThrow('"retention"');
  });

  it('is forgotten then', async () => {
    await fencedRedis(redis, 7, { retention: 1_000 }).set('a', 1);
    await until('it is forgotten', async () => (await redis.exists('{a}:fenced-by')) === 0);
    expect(await fencedRedis(redis, 5).set('a', 2)).toBe('OK');
  });

  it('outlives the key', async () => {
    await fencedRedis(redis, 7).del('a');
    expect(await outcome(fencedRedis(redis, 5).set('a', 1))).toBe('stale: 5 < 7');
  });

  it('is no other key’s', async () => {
    const names = ['a', '{a}', '{a}{}', 'x{a}', 'x{a}y', '{x', 'x{', 'p:{a}', '{p:a}'];
    for (const keyPrefix of ['', 'p:']) {
      const client = redis.duplicate({ keyPrefix });
      await redis.flushall();
      for (const [at, name] of names.entries()) await fencedRedis(client, 100 + at).set(name, at);
      expect(await redis.keys('*')).toHaveLength(2 * names.length);
      client.disconnect();
    }
  });

  it('stands behind the prefix of the client', async () => {
    const client = redis.duplicate({ keyPrefix: 'bank:' });
    await fencedRedis(client, 5).set('a', 1);
    expect((await redis.keys('*')).sort()).toEqual(['bank:a', 'bank:{bank:a}:fenced-by']);
    client.disconnect();
  });
});

it.each([-1, 1.5, NaN, 2 ** 53, '7', null, undefined, {}])('%s is no fencing token', (token) => {
  expect(() => fencedRedis(redis, token as number)).toThrow(LockOptionsError);
});

describe('in a Redis Cluster', () => {
  let node: RedisProcess;
  let clusters: Cluster[];
  beforeAll(async () => {
    node = await RedisProcess.start({
      args: ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'],
    });
    const admin = new Redis(node.url);
    await admin.cluster('ADDSLOTS', ...Array.from({ length: 16_384 }, (_, slot) => slot));
    await until('it is up', async () => String(await admin.cluster('INFO')).includes('state:ok'));
    admin.disconnect();
    clusters = ['', 'bank:', '{bank}:'].map(
      (keyPrefix) => new Cluster([{ host: '127.0.0.1', port: node.port }], { keyPrefix }),
    );
  });
  afterAll(async () => {
    for (const cluster of clusters) cluster.disconnect();
    await node.stop();
  });

  it.each(['a', '{a}', 'account:{7}:balance', 'a{b', '{x'])(
    'the newest token of "%s" lies in its slot',
    async (key) => {
      for (const cluster of clusters) {
        expect(await fencedRedis(cluster, 7).set(key, 'newer')).toBe('OK');
        expect(await outcome(fencedRedis(cluster, 5).set(key, 'older'))).toBe('stale: 5 < 7');
        expect(await cluster.get(key)).toBe('newer');
      }
    },
  );

  it('a key for which no name lies in its slot is refused', async () => {
    for (const key of ['a}b', '{}a']) {
      await expect(fencedRedis(clusters[0]!, 5).set(key, 1)).rejects.toThrow(LockKeyError);
    }
    await expect(fencedRedis(redis, 5).set('', 1)).rejects.toThrow(LockKeyError);
  });
});
