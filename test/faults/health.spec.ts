import { afterEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { Test } from '@nestjs/testing';
import {
  type LockHealth,
  LockLimitError,
  LockOptionsError,
  LockService,
  RedisLockModule,
  type RedisLockOptions,
} from '../../lib/index.js';
import { ManualClock, memoryLockService, MemoryServer } from '../../lib/memory/testing/index.js';
import { ClusterProcess } from '../../tools/redis-cluster.js';
import { SentinelProcess } from '../../tools/redis-sentinel.js';
import { freePort, RedisProcess } from '../../tools/redis-server.js';
import { SOON } from '../support/bounds.js';
import { closeAll, closing } from '../support/closing.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { later } from '../support/later.js';
import { LockProcess } from '../support/lock-process.js';
import { until } from '../support/until.js';

afterEach(closeAll);

/** Longer than a health check may take, even on a busy machine: a check that waits for a command is found. */
const commandTimeout = '30s';

describe('the health of locks on one Redis', () => {
  it('is up, with what there is to know, and leaves nothing there', async () => {
    const redis = await start();
    const locks = await locksOn({ redis: redis.url, wait: '30s', ttl: '20s' });
    const lease = await locks.acquire('secret-key');
    const waiting = locks.acquire('secret-key');
    await until('one waits', async () => (await locks.inspect('secret-key')).waiting === 1);
    const before = await as(redis, 'DBSIZE');
    const health = await becomes(locks, 'up');
    expect(health).toEqual({
      status: 'up',
      problems: [],
      topology: 'redis',
      servers: [
        {
          address: `127.0.0.1:${redis.port}/0`,
          status: 'up',
          problem: undefined,
          roundTrip: expect.any(Number),
          lastAnswer: expect.any(Number),
          clockOffset: expect.any(Number),
        },
      ],
      inbox: 'heard',
      held: 1,
      waiting: 1,
      eventLoop: { lateness: undefined, shortestTtl: 20_000 },
      warnings: [expect.stringContaining('no append-only file')],
    });
    const [server] = health.servers;
    expect(Math.abs(server!.clockOffset!)).toBeLessThan(server!.roundTrip! / 2 + 2); // one clock
    expect(await as(redis, 'DBSIZE')).toBe(before);
    expect(JSON.stringify(health)).not.toContain('secret-key');
    const second = await becomes(locks, 'up');
    expect(second.eventLoop.lateness).toEqual(expect.any(Number));
    await lease.release();
    await (await waiting).release();
  });

  it('is down in time while Redis hangs, and up when it goes on', async () => {
    const redis = await start();
    const locks = await locksOn({ redis: redis.url });
    redis.signal('SIGSTOP');
    const { status, problems, servers, inbox } = await inTime(locks);
    expect({ status, inbox, problems }).toEqual({
      status: 'down',
      inbox: 'unheard',
      problems: [`Redis at 127.0.0.1:${redis.port}/0 did not answer within 300 ms.`],
    });
    expect(servers[0]).toMatchObject({ roundTrip: undefined, lastAnswer: expect.any(Number) });
    redis.signal('SIGCONT');
    await becomes(locks, 'up');
  });

  it('is down while Redis is gone, and up when it is back; its password is not told', async () => {
    const user = ['--user', 'us3r', 'on', '>pl4ntedw0rd', '~*', '&*', '+@all'];
    const redis = await start(...user);
    const locks = await locksOn({ redis: `redis://us3r:pl4ntedw0rd@127.0.0.1:${redis.port}` });
    await redis.kill();
    const down = await until('the loss is known', async () => {
      const health = await inTime(locks);
      return health.problems[0]?.includes('ECONNREFUSED') && health;
    });
    expect(down).toMatchObject({
      status: 'down',
      problems: [`Redis at 127.0.0.1:${redis.port}/0 is not connected (ECONNREFUSED).`],
    });
    expect(JSON.stringify(down)).not.toMatch(/us3r|pl4ntedw0rd/);
    await redis.run();
    await becomes(locks, 'up');
  });

  it.each<[string, (redis: RedisProcess) => Promise<unknown>, RegExp]>([
    [
      'became a replica',
      (redis) => as(redis, 'REPLICAOF', '127.0.0.1', '1'),
      /READONLY|is not connected/,
    ],
    ['has no memory left', (redis) => as(redis, 'CONFIG', 'SET', 'maxmemory', '1'), /OOM/],
    [
      'has lost its replicas',
      (redis) => as(redis, 'CONFIG', 'SET', 'min-replicas-to-write', '1'),
      /NOREPLICAS/,
    ],
  ])('is down where Redis answers and grants nothing: it %s', async (_, spoil, says) => {
    const redis = await start();
    const locks = await locksOn({ redis: redis.url });
    await becomes(locks, 'up');
    await spoil(redis);
    const health = await becomes(locks, 'down');
    expect(health.problems.join(' ')).toMatch(says);
  });

  it('is degraded while this process hears no push', async () => {
    const redis = await start();
    await as(redis, 'ACL', 'SETUSER', 'locks', 'on', '>pw', '~*', '&*', '+@all');
    const locks = await locksOn({ redis: redis.url.replace('//', '//locks:pw@') });
    await becomes(locks, 'up');
    await as(redis, 'ACL', 'SETUSER', 'locks', 'resetchannels'); // ends the subscription
    const { problems, inbox } = await becomes(locks, 'degraded');
    expect({ problems, inbox }).toEqual({
      problems: [expect.stringMatching(/^This process does not hear the grants/)],
      inbox: 'unheard',
    });
    await (await locks.acquire('a')).release(); // as it says
  });

  it('is degraded while the connection for pushes is half-open', async () => {
    const proxy = await FaultProxy.before((await start()).port);
    closing.push(() => proxy.close());
    const locks = await locksOn({ redis: proxy.url });
    await becomes(locks, 'up');
    const [link] = [...proxy.links].filter(({ subscriber }) => subscriber);
    link!.down = { drop: true };
    expect((await becomes(locks, 'degraded')).inbox).toBe('unheard');
    link!.down = undefined;
    await becomes(locks, 'up');
  });

  it('is degraded after the event loop was late by a third of a ttl', async () => {
    const redis = await start();
    const locks = await locksOn({ redis: redis.url, ttl: '600ms' });
    await locks.health();
    const end = performance.now() + 400;
    while (performance.now() < end);
    const { problems, eventLoop } = await becomes(locks, 'degraded');
    expect(eventLoop.lateness).toBeGreaterThan(300);
    expect(problems).toEqual([
      expect.stringMatching(/^The event loop was late by \d+ ms, and the shortest ttl is 600 ms/),
    ]);
  });

  it('is down while too few replicas are there', async () => {
    const redis = await start('--repl-diskless-sync-delay', '0');
    const replicas = { acks: 1, timeout: '100ms' } as const;
    const locks = await locksOn({ redis: redis.url, replicas });
    const { problems } = await becomes(locks, 'down');
    const problem = `Redis at 127.0.0.1:${redis.port}/0 cannot keep locks: 0 of 1 replicas (option "replicas") answer.`;
    expect(problems).toEqual([problem]);
    const patient = await locksOn({ redis: redis.url, replicas, commandTimeout: '2s' });
    expect((await patient.health({ timeout: '30s' })).problems).toEqual([problem]); // holds up no other command
    await start('--replicaof', '127.0.0.1', String(redis.port));
    await becomes(locks, 'up');
  });

  it('is down in the grace period after a restart, with durability refuse', async () => {
    const redis = await start();
    const locks = await locksOn({ redis: redis.url, durability: 'refuse', ttl: '3s' });
    const { problems, warnings } = await becomes(locks, 'down');
    expect(problems).toEqual([expect.stringMatching(/^No lock is granted for the next \d+ ms/)]);
    expect(warnings).toEqual([]);
    await becomes(locks, 'up');
  });

  it('is down in a shutdown', async () => {
    const redis = await start();
    const locks = await locksOn({ redis: redis.url });
    locks.onModuleDestroy();
    const { status, problems } = await inTime(locks);
    expect([status, problems]).toEqual(['down', [expect.stringMatching(/shuts down/)]]);
    await locks.onApplicationShutdown();
    expect((await inTime(locks)).status).toBe('down');
  });

  it('answers for many at once, and refuses what is no option', async () => {
    const locks = await locksOn({ redis: (await start()).url });
    const all = await Promise.all(
      Array.from({ length: 50 }, () => locks.health({ timeout: 5_000 })),
    );
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 'up'));
    await expect(locks.health({ timeout: '1d' })).rejects.toThrow(LockOptionsError);
    await expect(locks.health({ within: 5 } as object)).rejects.toThrow('no option "within"');
  });
});

describe('the health of locks that connect at the first call', () => {
  it('connects, and is up', async () => {
    const redis = await start();
    const locks = await locksOn({ redis: redis.url, lazyConnect: true });
    expect((await locks.health({ timeout: '10s' })).status).toBe('up');
  });

  it('is down in time without a Redis, and up when it comes', async () => {
    const port = await freePort();
    const locks = await locksOn({ redis: { port }, lazyConnect: true });
    const { problems, status } = await inTime(locks);
    expect(status).toBe('down');
    expect(problems).toEqual([expect.stringMatching(/^Redis, not connected yet\.|ECONNREFUSED/)]);
    const redis = await RedisProcess.start({ port: async () => port });
    closing.push(() => redis.stop());
    await becomes(locks, 'up');
  });

  it.each<[string, (port: number) => RedisLockOptions]>([
    ['one Redis', (port) => ({ redis: { port } })],
    ['a Cluster', (port) => ({ redis: { cluster: [{ host: '127.0.0.1', port }] } })],
    [
      'Sentinels',
      (port) => ({ redis: { sentinels: [{ host: '127.0.0.1', port }], name: 'locks' } }),
    ],
    ['a quorum', (port) => ({ nodes: [{ port }, { host: 'localhost', port }] })],
  ])('is down in time where what should be %s says nothing', async (_, options) => {
    const mute = createServer((socket) => {
      closing.unshift(() => socket.destroy()); // after the locks
    }).listen(0, '127.0.0.1');
    await once(mute, 'listening');
    closing.push(() => mute.close());
    const { port } = mute.address() as AddressInfo;
    const locks = await locksOn({ ...options(port), lazyConnect: true });
    const { status, problems, servers } = await inTime(locks);
    expect(status).toBe('down');
    expect(problems.length).toBeGreaterThan(0);
    expect(servers.every((server) => server.status === 'down')).toBe(true);
  });
});

describe('the health of locks on several servers', () => {
  it('names each node of a Cluster; one that hangs degrades it', async () => {
    const cluster = await ClusterProcess.start();
    closing.push(() => cluster.stop());
    const locks = await locksOn({ redis: { cluster: cluster.seeds } });
    const up = await becomes(locks, 'up');
    const addresses = cluster.seeds.map(({ port }) => `127.0.0.1:${port}/0`);
    expect(up.servers.map(({ address }) => address).sort()).toEqual(addresses.sort());
    expect([up.topology, up.inbox]).toEqual(['cluster', 'heard']);
    const [frozen] = cluster.servers;
    frozen!.signal('SIGSTOP');
    closing.push(() => frozen!.signal('SIGCONT'));
    const { status, servers } = await inTime(locks);
    expect([status, servers.filter((server) => server.status === 'down')]).toEqual([
      'degraded',
      [expect.objectContaining({ address: `127.0.0.1:${frozen!.port}/0` })],
    ]);
    for (const server of cluster.servers) server.signal('SIGSTOP');
    expect((await inTime(locks)).status).toBe('down');
    for (const server of cluster.servers) server.signal('SIGCONT');
    await becomes(locks, 'up');
  });

  it('is up on a Cluster whose slots are on their way', async () => {
    const cluster = await ClusterProcess.start();
    closing.push(() => cluster.stop());
    const locks = await locksOn({ redis: { cluster: cluster.seeds } });
    await becomes(locks, 'up');
    const end = await cluster.beginMove(13_907); // of the key "0"
    await becomes(locks, 'up');
    await end();
    await becomes(locks, 'up');
  });

  it('is that of a majority on a quorum, which has no inbox', async () => {
    const servers = await Promise.all([start(), start(), start()]);
    const locks = await locksOn({ nodes: servers.map(({ url }) => url) });
    const up = await becomes(locks, 'up');
    expect([up.topology, up.inbox, up.servers.length]).toEqual(['quorum', undefined, 3]);
    servers[0]!.signal('SIGSTOP');
    expect((await becomes(locks, 'degraded')).problems).toHaveLength(1);
    servers[1]!.signal('SIGSTOP');
    const { problems } = await becomes(locks, 'down');
    expect(problems.at(-1)).toBe('Of 3 servers, 1 can grant locks: a quorum needs 2.');
    for (const server of servers) server.signal('SIGCONT');
    await becomes(locks, 'up');
  });

  it('names the Sentinels’ primary, and is up again after a failover', async () => {
    const sentinels = await SentinelProcess.start();
    closing.push(() => sentinels.stop());
    const locks = await locksOn({ redis: sentinels.source });
    const { topology, servers } = await becomes(locks, 'up');
    expect([topology, servers.length]).toEqual(['sentinel', 1]);
    await sentinels.failOver();
    await becomes(locks, 'up');
  });

  it('is down in time while Sentinels have no primary, connected before or not, and up when it is back', async () => {
    const group = await SentinelProcess.start({ replicas: 1, sentinels: 1 }); // too few for a failover
    closing.push(() => group.stop());
    const locks = await locksOn({ redis: group.source });
    await becomes(locks, 'up');
    for (const server of group.servers) await server.kill();
    const late = await locksOn({ redis: group.source, lazyConnect: true });
    for (const one of [locks, late]) {
      const { status, problems } = await inTime(one);
      expect(status).toBe('down');
      expect(problems).toEqual([
        expect.stringMatching(/^Redis(?: at Sentinel "locks-\d+"|, not connected)/),
      ]);
    }
    for (const server of group.servers) await server.run();
    await becomes(locks, 'up');
    await becomes(late, 'up');
  });
});

describe('the health of locks in memory', () => {
  it('is up, down while the memory does not answer, and down when it is closed', async () => {
    const server = new MemoryServer();
    const locks = memoryLockService({ server, commandTimeout: 100 }); // shorter than the check may take
    expect(await locks.health()).toMatchObject({
      status: 'up',
      topology: 'memory',
      inbox: 'heard',
      servers: [{ address: 'memory', status: 'up' }],
    });
    server.pause();
    expect((await inTime(locks)).problems).toEqual(['The memory did not answer within 300 ms.']);
    server.resume();
    expect((await locks.health()).status).toBe('up');
    await locks.onApplicationShutdown();
    expect((await locks.health()).status).toBe('down');
  });

  it('counts the wait for a memory that stands still as round trip', async () => {
    const clock = new ManualClock();
    const server = new MemoryServer(clock);
    const locks = memoryLockService({ server });
    await locks.health();
    server.pause();
    const checked = locks.health();
    await clock.advance(20);
    server.resume();
    expect((await checked).servers).toMatchObject([{ roundTrip: 20 }]);
    await locks.onApplicationShutdown();
  });

  it('is judged by the ttls of what is renewed: a late event loop costs no other lease', async () => {
    const locks = memoryLockService({ ttl: '20s' });
    closing.push(() => locks.onApplicationShutdown());
    await locks.acquire('a', { ttl: '50ms', renew: false });
    expect((await locks.health()).eventLoop.shortestTtl).toBe(20_000);
    await locks.acquire('b', { ttl: '10s' });
    expect((await locks.health()).eventLoop.shortestTtl).toBe(10_000);
    const none = memoryLockService({ renew: false });
    closing.push(() => none.onApplicationShutdown());
    expect((await none.health()).eventLoop.shortestTtl).toBe(Infinity);
  });

  it.each(['leases', 'waitersPerProcess'] as const)(
    'is down while the limit %s of this process refuses a free lock',
    async (limit) => {
      const locks = memoryLockService({ limits: { [limit]: 1 }, wait: '30s' });
      closing.push(() => locks.onApplicationShutdown());
      const lease = await locks.acquire('a');
      const waiting = limit === 'leases' ? undefined : later(locks.acquire('a'));
      const { status, problems } = await locks.health();
      expect([status, problems]).toEqual([
        'down',
        [`The limit "${limit}" of 1 is reached: new calls for locks are refused.`],
      ]);
      await expect(locks.tryAcquire('free')).rejects.toThrow(LockLimitError); // as it says
      await lease.release();
      await (await waiting)?.release();
      expect((await locks.health()).status).toBe('up');
    },
  );
});

it.each([
  ['asks for a password', undefined, ['requirepass', 's3cret'], 'NOAUTH'],
  ['refuses the password, which was rotated', 'before', ['requirepass', 's3cret'], 'WRONGPASS'],
  ['has as many clients as it may have', undefined, ['maxclients', '1'], 'maxclients'],
] as const)('says since the connection was lost that Redis %s', async (_, before, set, code) => {
  const server = await RedisProcess.start();
  const admin = new Redis(server.url);
  if (before) await admin.config('SET', 'requirepass', before);
  const redis = server.url.replace('//', before ? `//:${before}@` : '//');
  const client = new LockProcess({ redis });
  try {
    await client.locks.open();
    await admin.config('SET', ...set);
    await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    const problem = await until('health names it', async () => {
      const { servers } = await client.store.health(1_000);
      return servers[0]!.problem?.includes(code) && servers[0]!.problem;
    });
    expect(problem).not.toMatch(/s3cret|before/);
    await expect(client.acquire('k', { wait: 0 })).rejects.toThrow(code);
  } finally {
    await client.close();
    admin.disconnect();
    await server.stop();
  }
});

async function locksOn(options: RedisLockOptions): Promise<LockService> {
  const imports = [RedisLockModule.forRoot({ commandTimeout, shutdownGrace: 0, ...options })];
  const module = await (await Test.createTestingModule({ imports }).compile()).init();
  closing.push(() => module.close());
  return module.get(LockService);
}

async function start(...args: string[]): Promise<RedisProcess> {
  const redis = await RedisProcess.start({ args });
  closing.push(async () => {
    redis.signal('SIGCONT');
    await redis.stop();
  });
  return redis;
}

/** Asks a server as one who may do everything. */
async function as(redis: RedisProcess, command: string, ...args: string[]): Promise<unknown> {
  const admin = new Redis(redis.url);
  try {
    return await admin.call(command, ...args);
  } finally {
    admin.disconnect();
  }
}

/** Asks again until it is so; a check that is asked again may take its time. */
async function becomes(locks: LockService, status: LockHealth['status']): Promise<LockHealth> {
  return until<LockHealth | undefined>(`it is ${status}`, async () => {
    const health = await locks.health({ timeout: '1s' });
    return health.status === status ? health : undefined;
  });
}

/** What a check says within its time. */
async function inTime(locks: LockService): Promise<LockHealth> {
  const from = performance.now();
  const health = await locks.health();
  expect(performance.now() - from).toBeLessThan(SOON);
  return health;
}
