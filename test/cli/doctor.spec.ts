import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { RedisProcess } from '../../tools/redis-server.js';
import { closeAll, closing } from '../support/closing.js';
import { asked, command, endCommands } from '../support/command.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { LockProcess } from '../support/lock-process.js';
import { SteppedClock } from '../support/stepped-clock.js';
import { until } from '../support/until.js';

const clock = SteppedClock.make();
const onSteppedClock = clock ? describe : describe.skip;
let redis: RedisProcess;
let admin: Redis;
beforeAll(async () => {
  redis = await RedisProcess.start({ args: ['--appendonly', 'yes'] });
  admin = new Redis(redis.url);
});
afterAll(async () => {
  admin.disconnect();
  await redis.stop();
  clock?.remove();
});

afterEach(async () => {
  await endCommands();
  await closeAll();
  await admin.flushall();
});

describe('at a Redis that is fine', () => {
  it('every check is ok, and the code is 0', async () => {
    const { code, stdout, stderr } = await command(['doctor', '--url', redis.url]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const checks = stdout
      .trimEnd()
      .split('\n')
      .slice(0, -2)
      .map((line) => line.slice(9, 22).trim());
    expect(checks.filter(Boolean)).toEqual([
      'version',
      'eviction',
      'memory',
      'persistence',
      'replication',
      'rights',
      'clock',
      'round trip',
      'keys',
      'start',
      'scripts',
    ]);
    expect(stdout).toMatch(/^0 problems, \d warnings?$/m);
    expect(await findings()).toEqual({ code: 0, odd: [] });
  });

  it('nothing is written and no lock is disturbed', async () => {
    const holder = new LockProcess({ redis: redis.url });
    closing.push(() => holder.close());
    const lease = await holder.acquire('held', { ttl: '1h' });
    const waiting = holder.acquire('held', { wait: Infinity });
    await holder.waiting('held');
    await admin.set('lock:foreign', 'x');
    const keys = async (): Promise<string[]> => (await admin.keys('*')).sort();
    const before = [await keys(), await admin.get('lock:held')];
    const watched = await admin.monitor();
    closing.push(() => watched.disconnect());
    const writes: string[] = [];
    const seen: string[] = [];
    const writing = new Set(await commandsThat('write'));
    watched.on(
      'monitor',
      (_: unknown, [name = '', ...args]: string[], __: unknown, database: string) => {
        seen.push(name);
        const isHolders = args.some((arg) => arg.includes('held'));
        if (writing.has(name.toLowerCase()) && !isHolders)
          writes.push([database, name, ...args].join(' '));
      },
    );
    await findings();
    await until(
      'the end of it is seen',
      () => seen.includes('publish') || seen.includes('PUBLISH'),
    );
    expect(seen.map((name) => name.toLowerCase())).toEqual(
      expect.arrayContaining(['scan', 'pttl']),
    );
    // Its trial of the rights sends commands that change nothing: to a key that is no lock's and is not there.
    expect(writes.filter((line) => !/ lock:\{\}:rights\b/.test(line))).toEqual([]);
    expect([await keys(), await admin.get('lock:held')]).toEqual(before);
    expect(lease.held).toBe(true);
    await lease.release();
    await (await waiting).release();
  });
});

describe('it says what to change', () => {
  it('where Redis may evict locks', async () => {
    await configure({ 'maxmemory-policy': 'allkeys-lru' });
    expect(await findings()).toMatchObject({
      code: 0,
      odd: [{ check: 'eviction', status: 'warning', remedy: 'Set it to noeviction.' }],
    });
    await configure({ maxmemory: '1gb' });
    expect(await findings()).toMatchObject({
      code: 1,
      odd: [{ check: 'eviction', status: 'problem', remedy: 'Set it to noeviction.' }],
    });
  });

  it('where the memory is nearly full', async () => {
    const used = Number(/used_memory:(\d+)/.exec(await admin.info('memory'))![1]);
    await configure({ maxmemory: String(Math.round(used * 1.02)) });
    expect(await findings()).toMatchObject({
      odd: [{ check: 'memory', status: 'warning', remedy: expect.stringContaining('maxmemory') }],
    });
  });

  it('where Redis keeps nothing over a restart', async () => {
    const { url } = await started([]);
    expect(await findings(url)).toMatchObject({
      code: 0,
      odd: [{ check: 'persistence', remedy: expect.stringContaining('appendonly yes') }],
    });
  });

  it('where a failover loses locks, a replica is behind, and where a replica was given', async () => {
    const args = ['--appendonly', 'yes', '--repl-diskless-sync-delay', '0'];
    const primary = await started(args);
    const replica = await started([...args, '--replicaof', '127.0.0.1', String(primary.port)]);
    const at = new Redis(primary.url);
    closing.push(() => at.disconnect());
    await until('they are in step', async () => /slave0:.*state=online/.test(await at.info()));
    expect(await findings(primary.url)).toMatchObject({
      code: 0,
      odd: [
        {
          check: 'replication',
          status: 'warning',
          remedy: expect.stringContaining('min-replicas-to-write'),
        },
      ],
    });
    await at.config('SET', 'min-replicas-to-write', '1');
    expect(await findings(primary.url)).toEqual({ code: 0, odd: [] });
    expect(await findings(replica.url)).toMatchObject({
      code: 1,
      odd: [
        {
          check: 'server',
          found: expect.stringContaining('a read-only replica (READONLY): give its primary'),
        },
      ],
    });
  });

  it('where Redis is far away', async () => {
    const proxy = await FaultProxy.before(redis.port);
    closing.push(() => proxy.close());
    proxy.down = { delay: 60 };
    const { answer } = await asked(['doctor', '--url', proxy.url]);
    const far = answer.findings.find(({ check }: Finding) => check === 'round trip');
    expect(far).toMatchObject({
      status: 'warning',
      remedy: expect.stringContaining('nearer to Redis'),
    });
  });

  it('where scripts are slow', async () => {
    const proxy = await FaultProxy.before(redis.port);
    closing.push(() => proxy.close());
    const evals = (words: readonly string[]): boolean => words[0]?.startsWith('eval') ?? false;
    proxy.fate = (words, link) => {
      link.down = evals(words) ? { delay: 60 } : undefined;
      return 'pass';
    };
    const { answer } = await asked(['doctor', '--url', proxy.url]);
    const slow = answer.findings.find(({ check }: Finding) => check === 'scripts');
    expect(slow).toMatchObject({ status: 'warning', remedy: expect.stringContaining('SLOWLOG') });
  });

  it.each<[string, string, Partial<Finding>]>([
    [
      'Redis cannot write to its disk',
      'aof_last_write_status:err',
      { check: 'persistence', status: 'problem', remedy: expect.stringContaining('room') as any },
    ],
    [
      'a replica lags',
      'connected_slaves:1\r\nslave0:ip=127.0.0.1,port=1,state=online,offset=1,lag=60',
      { check: 'replication', status: 'warning', remedy: expect.stringContaining('logs') as any },
    ],
    [
      'Redis is too old',
      'redis_version:5.0.14',
      {
        check: 'server',
        status: 'problem',
        found: expect.stringMatching(/version 5\.0\.14, and locks need 6\.2 or later/) as any,
      },
    ],
    [
      'a Sentinel was given',
      'redis_mode:sentinel',
      { check: 'server', status: 'problem', found: expect.stringContaining('--sentinel') as any },
    ],
  ])('where %s', async (_, field, finding) => {
    const proxy = await FaultProxy.before(redis.port);
    closing.push(() => proxy.close());
    const name = field.slice(0, field.indexOf(':'));
    const info = (await admin.info())
      .split('\r\n')
      .filter((line) => !line.startsWith(`${name}:`))
      .concat(field)
      .join('\r\n');
    proxy.fate = ([word]) => (word === 'info' ? `$${info.length}\r\n${info}` : 'pass');
    const { code, odd } = await findings(proxy.url);
    expect(odd).toContainEqual(expect.objectContaining(finding));
    expect(code).toBe(finding.status === 'problem' ? 1 : 0);
  });

  it('where a lock, or what is beside it, has no time to live', async () => {
    const holder = new LockProcess({ redis: redis.url });
    closing.push(() => holder.close());
    await holder.acquire('endless', { ttl: '1h', renew: false });
    await admin.persist('lock:endless');
    await admin.zadd('{lock:a}:queue', 1, 'entry');
    expect(await findings()).toMatchObject({
      code: 1,
      odd: [
        {
          status: 'problem',
          found: expect.stringMatching(/^No time to live: "lock:endless"\./),
          remedy: expect.stringContaining('nest-redis-lock release <key>'),
        },
        {
          status: 'warning',
          found: expect.stringMatching(/^No time to live: "\{lock:a\}:queue \(zset\)"\./),
        },
      ],
    });
  });

  it('where other keys stand under the prefix, and shows their names harmlessly', async () => {
    await admin.hset('lock:h', 'a', 1);
    await admin.set('lock:\u001b[2J\u202eevil', 1);
    await admin.set('lock:{a:fence', 1);
    await admin.set('{lock:old}:fence', 1);
    await admin.set('other', 1);
    const { code, odd } = await findings();
    expect(code).toBe(0);
    expect(odd).toMatchObject([
      {
        status: 'warning',
        found: expect.stringMatching(/^Of an older version: "\{lock:old\}:fence"\./),
      },
      { status: 'warning', found: expect.stringContaining('"lock:h (hash)", "lock:{a:fence"') },
    ]);
    const { stdout } = await command(['doctor', '--url', redis.url]);
    expect(stdout).toContain(String.raw`"lock:\x1b[2J\u{202e}evil"`);
    expect(stdout).not.toMatch(/[\p{Cc}\p{Cf}](?<!\n)/u);
    expect((await findings(redis.url, '--prefix=else:')).odd).toEqual([]);
    expect((await findings(redis.url, '--prefix=')).odd).toMatchObject([
      { found: expect.stringContaining('older') },
    ]);
  });

  it('where a lock has been held for days', async () => {
    const since = (Date.now() - 3 * 86_400_000) * 1_000;
    const holder = `web-1.17.${'a'.repeat(11)}/${'b'.repeat(22)}/${since}`;
    await admin.set('lock:stuck', holder, 'PX', 60_000);
    await admin.set('lock:fresh', holder.replace(/\d+$/, String(Date.now() * 1_000)), 'PX', 60_000);
    expect(await findings()).toMatchObject({
      code: 0,
      odd: [
        {
          found: 'Held for more than a day: "lock:stuck".',
          remedy: expect.stringContaining('maxHold'),
        },
      ],
    });
  });
});

onSteppedClock('where the clocks differ', () => {
  it('doctor says by how much', async () => {
    clock!.set(90_000);
    const { url } = await started(['--appendonly', 'yes'], clock!.env);
    expect(await findings(url)).toMatchObject({
      code: 0,
      odd: [
        {
          check: 'clock',
          found: expect.stringMatching(/^Redis' clock is 1 min (2\d|3\d) s ahead of/),
        },
      ],
    });
  });
});

/** The commands of this kind, as Redis lists them. */
async function commandsThat(flag: string): Promise<string[]> {
  const all = (await admin.call('COMMAND')) as [string, number, string[]][];
  return all.filter(([, , flags]) => flags.includes(flag)).map(([name]) => name);
}

/** What doctor finds that is not fine, and the code. */
async function findings(
  url = redis.url,
  ...words: string[]
): Promise<{ code: unknown; odd: Finding[] }> {
  const { code, answer } = await asked(['doctor', '--url', url, ...words]);
  const odd = (answer.findings as Finding[]).filter(
    ({ check, status }) => status !== 'ok' && !['round trip', 'scripts'].includes(check), // this machine may be busy
  );
  return { code, odd };
}

/** Sets a server's settings until the end of the test. */
async function configure(settings: Record<string, string>): Promise<void> {
  for (const [name, value] of Object.entries(settings)) {
    const [, before] = (await admin.config('GET', name)) as [string, string];
    closing.push(() => admin.config('SET', name, before));
    await admin.config('SET', name, value);
  }
}

async function started(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<RedisProcess> {
  const server = await RedisProcess.start({ args, env });
  closing.push(() => server.stop());
  return server;
}

interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'problem';
  readonly found: string;
  readonly remedy?: string;
}
