import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { LockStoreError, QuorumNotReachedError } from '../../lib/engine/errors/index.js';
import { QuorumLockStore } from '../../lib/engine/locks/quorum/quorum-lock-store.js';
import {
  moduleSettings,
  type RedisLockOptions,
  systemClock,
} from '../../lib/engine/options/index.js';
import { connectToEach } from '../../lib/engine/redis/index.js';
import { ClusterProcess } from '../../tools/redis-cluster.js';
import { SentinelProcess } from '../../tools/redis-sentinel.js';
import { freePort, RedisProcess } from '../../tools/redis-server.js';
import { Certificate } from '../support/certificate.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { LockProcess } from '../support/lock-process.js';
import { BEFORE_START_TIMEOUT, COMMAND } from '../support/bounds.js';
import { slowClock } from '../support/slow-clock.js';
import { until } from '../support/until.js';

const SECRET = /us3r|pl4nt|w0rd/;

const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

async function redis(...args: string[]): Promise<number> {
  const server = await RedisProcess.start({ args });
  closing.push(() => server.stop());
  return server.port;
}

async function sentinel(): Promise<SentinelProcess> {
  const group = await SentinelProcess.start({ replicas: 1, sentinels: 1 });
  closing.push(() => group.stop());
  return group;
}

/** A Redis that calls itself something else. */
async function disguised(...info: string[]): Promise<number> {
  const proxy = await FaultProxy.before(await redis());
  closing.push(() => proxy.close());
  const text = ['# Server', ...info, 'redis_mode:standalone', 'role:master'].join('\r\n');
  proxy.fate = ([word]) => (word === 'info' ? `$${text.length}\r\n${text}` : 'pass');
  return proxy.port;
}

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** Something that is no Redis. */
function impostor(talk: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  closing.push(() => sockets.forEach((socket) => socket.destroy()));
  return listening(
    createServer((socket) => {
      sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)));
      talk(socket);
    }),
  );
}

/** With a password, which nobody may repeat. */
const at = (port: number): RedisLockOptions => ({
  redis: `redis://us3r:pl4ntedw0rd@127.0.0.1:${port}`,
});
const plainly = (port: number, more: RedisLockOptions = {}): RedisLockOptions => ({
  redis: `redis://127.0.0.1:${port}`,
  ...more,
});

interface Case {
  readonly options: () => Promise<RedisLockOptions>;
  readonly says: RegExp;
  /** The database that the error names. Default: 0. */
  readonly db?: number;
  /** Whether it may be usable later. */
  readonly retryable?: boolean;
}

const disabled = (command: string, more?: RedisLockOptions): Case => ({
  options: async () => plainly(await redis('--rename-command', command, ''), more),
  says: new RegExp(`\\b${command}\\b.*disabled or renamed`),
});

const cases: Readonly<Record<string, Case>> = {
  'Redis 5.0': {
    options: async () => plainly(await disguised('redis_version:5.0.14')),
    says: /version 5\.0\.14, and locks need 6\.2/,
  },
  'Redis 6.0': {
    options: async () => plainly(await disguised('redis_version:6.0.20')),
    says: /version 6\.0\.20, and locks need 6\.2/,
  },
  'EVAL disabled': disabled('EVAL'),
  'EVALSHA disabled': disabled('EVALSHA'),
  'PUBLISH disabled': disabled('PUBLISH'),
  'SUBSCRIBE disabled': disabled('SUBSCRIBE'),
  'TIME disabled': disabled('TIME'),
  'INFO disabled, which durability needs': {
    options: async () => {
      const proxy = await FaultProxy.before(await redis());
      closing.push(() => proxy.close());
      proxy.fate = ([word]) => (word === 'info' ? "-ERR unknown command 'INFO'" : 'pass');
      return plainly(proxy.port, { durability: 'refuse' });
    },
    says: /needs INFO: .*command INFO: it is disabled or renamed/,
  },
  'WAIT disabled, which replicas need': disabled('WAIT', { replicas: { acks: 1 } }),
  "a Sentinel's port": {
    options: async () => plainly((await sentinel()).source.sentinels[0]!.port),
    says: /this is a Sentinel: give it as \{ sentinels/,
  },
  'a Redis among the Sentinels': {
    options: async () => {
      const sentinels = [{ host: '127.0.0.1', port: await redis() }];
      return { redis: { sentinels, name: 'locks' } };
    },
    says: /what answers there is no Sentinel: correct "sentinels"/,
  },
  'Sentinels that know no such primary': {
    options: async () => {
      const { source } = await sentinel();
      return { redis: { ...source, name: 'others' } };
    },
    says: /the Sentinels know no primary of this name: correct "name"/,
    retryable: true,
  },
  'Sentinels that want a password': {
    options: async () => {
      const { source } = await sentinel();
      const admin = new Redis(source.sentinels[0]!.port, '127.0.0.1');
      await admin.call('ACL', 'SETUSER', 'default', '>pl4ntedw0rd');
      admin.disconnect();
      return { redis: source };
    },
    says: /the Sentinels refuse the user or password: set "sentinelPassword"/,
  },
  'no Sentinel': {
    options: async () => {
      const sentinels = [{ host: '127.0.0.1', port: await freePort() }];
      return { redis: { sentinels, name: 'locks' } };
    },
    says: /no Sentinel answers: start one, or correct "sentinels"/,
    retryable: true,
  },
  'a plain Redis as a Cluster': {
    options: async () => ({ redis: { cluster: [`127.0.0.1:${await redis()}`] } }),
    says: /no node of a Cluster.*without "cluster"/,
  },
  'a node of a Cluster as a plain Redis': {
    options: async () => {
      const cluster = await ClusterProcess.start();
      closing.push(() => cluster.stop());
      return plainly(cluster.seeds[0]!.port);
    },
    says: /one node of a Cluster: give \{ cluster/,
  },
  'a database that Redis does not have': {
    options: async () => ({ redis: `redis://127.0.0.1:${await redis('--databases', '4')}/4` }),
    says: /127\.0\.0\.1:\d+\/4 could not be used: Redis has no database of this number: correct "db"/,
    db: 4,
  },
  'a database of a Cluster of one node': {
    options: async () => ({
      redis: `redis://127.0.0.1:${await redis('--cluster-enabled', 'yes')}/1`,
    }),
    says: /(a Cluster has database 0 alone|Redis has no database of this number): correct "db"/, // Valkey 9.0 has several in a Cluster
    db: 1,
  },
  'a replica': {
    options: async () => plainly(await redis('--replicaof', '127.0.0.1', '1')),
    says: /read-only replica \(READONLY\): give its primary/,
    retryable: true,
  },
  'a server that repeats what it is sent': {
    options: async () => at(await impostor((socket) => void socket.pipe(socket))),
    says: /repeats what it is sent: no Redis/,
  },
  'a server that repeats what it is sent, in its own words': {
    options: async () =>
      at(
        await impostor((socket) => {
          socket.on('data', (data) => socket.write(`You said: ${data.toString()}`));
        }),
      ),
    says: /no Redis: "You said: PING"/,
  },
  'an HTTP server': {
    options: async () => at(await listening(createHttpServer())),
    says: /no Redis: "HTTP\/1\.1 400 Bad Request"/,
  },
  garbage: {
    options: async () =>
      at(await impostor((socket) => void socket.write(Buffer.alloc(500, 'a\x00\x1B[31mé')))),
    says: /no Redis: "a\?\?\[31m.{33}"/,
  },
  'a server that says nothing': {
    options: async () => at(await impostor(() => {})),
    says: /accepts connections and says nothing|no answer/,
    retryable: true,
  },
  'a proxy that closes each connection': {
    options: async () => at(await impostor((socket) => socket.end())),
    says: /closes each connection without a word/,
    retryable: true,
  },
  'a server with as many clients as it may have': {
    options: async () => {
      const port = await redis();
      const other = new Redis(port, '127.0.0.1');
      closing.push(() => other.disconnect());
      await other.config('SET', 'maxclients', 1);
      return plainly(port);
    },
    says: /as many clients as it may have \(maxclients\)/,
    retryable: true,
  },
  'a server that speaks TLS': {
    options: async () => {
      const { file, key } = new Certificate('localhost');
      const secrets = { cert: readFileSync(file), key: readFileSync(key) };
      return at(await listening(createTlsServer(secrets)));
    },
    says: /speaks TLS: use rediss/,
  },
  'a server that speaks no TLS': {
    options: async () => ({ redis: `rediss://127.0.0.1:${await redis()}` }),
    says: /without TLS: use redis:/,
  },
};

/** What becomes of a process at its start, or at its first call. */
async function failureOf(options: RedisLockOptions, isLazy: boolean): Promise<unknown> {
  const client = new LockProcess({ ttl: '10s', ...options }, undefined, slowClock(3));
  try {
    if (isLazy) await client.acquire('k');
    else await client.locks.open();
    return 'it can be used';
  } catch (error) {
    return error;
  } finally {
    await client.close();
  }
}

describe('a server that cannot be used is named', () => {
  const failures = new Map<string, unknown[]>();
  beforeAll(async () => {
    // All at once: some take as long as a start may take.
    await Promise.all(
      Object.entries(cases).map(async ([name, { options, retryable }]) => {
        const given = await options();
        // A call waits for a command's time: longer than a start, or shorter, where the start goes on trying.
        const commandTimeout = retryable ? '4s' : '10s';
        const late: RedisLockOptions = { ...given, commandTimeout };
        failures.set(name, await Promise.all([failureOf(given, false), failureOf(late, true)]));
      }),
    );
  }, 300_000);

  it.each(Object.entries(cases))(
    'at the start: %s',
    (name, { says, db = 0, retryable = false }) => {
      const [error] = failures.get(name)! as [LockStoreError];
      expect(error).toBeInstanceOf(LockStoreError);
      expect(error.message).toMatch(says);
      const where = `Redis at (127\\.0\\.0\\.1:\\d+/${db}|Sentinel "(locks(-\\d+)?|others)")`;
      expect(error.message).toMatch(
        new RegExp(`^(${where}|The Cluster at 127\\.0\\.0\\.1:\\d+) could not`),
      );
      expect(error.message.length).toBeLessThan(300);
      expect(error.retryable).toBe(retryable);
      expect(inspect(error, { showHidden: true })).not.toMatch(SECRET);
    },
  );

  it.each(Object.entries(cases))('at the first call: %s', (name, { says }) => {
    const [, error] = failures.get(name)! as [unknown, LockStoreError];
    expect(error).toBeInstanceOf(LockStoreError);
    expect(error.message).toMatch(says);
    expect(inspect(error, { showHidden: true })).not.toMatch(SECRET);
  });
});

describe('a start ends when connectTimeout is over', () => {
  const mute = (): Promise<number> => impostor(() => {});
  it.each<[string, () => Promise<RedisLockOptions>, RegExp]>([
    ['one Redis', async () => plainly(await mute()), /^Redis at .* within 300 ms/],
    [
      'a Cluster',
      async () => ({ redis: { cluster: [`127.0.0.1:${await mute()}`] } }),
      /^Redis at .* within 300 ms/,
    ],
    [
      'Sentinels',
      async () => ({
        redis: { sentinels: [{ host: '127.0.0.1', port: await mute() }], name: 'locks' },
      }),
      /^Redis at Sentinel "locks" could not be used within 300 ms/,
    ],
  ])('of %s', async (_, options, says) => {
    const from = performance.now();
    const client = new LockProcess({ ...(await options()), connectTimeout: 300 });
    await expect(client.locks.open()).rejects.toThrow(says);
    await client.close();
    expect(performance.now() - from).toBeLessThan(BEFORE_START_TIMEOUT);
  });

  it('of a quorum', async () => {
    const nodes = [await mute(), await mute()].map((port) => `redis://127.0.0.1:${port}`);
    const from = performance.now();
    const store = new QuorumLockStore(moduleSettings({ nodes, connectTimeout: 300 }), systemClock);
    await expect(store.open({} as never)).rejects.toThrow(QuorumNotReachedError);
    expect(performance.now() - from).toBeLessThan(BEFORE_START_TIMEOUT);
  });
});

it('a Cluster is found by the node that answers, whichever do not', async () => {
  const cluster = await ClusterProcess.start();
  closing.push(() => cluster.stop());
  const mute = await impostor(() => {});
  const seeds = [mute, await freePort(), cluster.seeds[2]!.port].map((port) => `127.0.0.1:${port}`);
  const redis = { cluster: seeds };
  const options = { redis, connectTimeout: '10m', commandTimeout: COMMAND } as const;
  const client = new LockProcess(options); // of which nothing may wait for the others
  closing.push(() => client.close());
  await client.locks.open();
  await (await client.acquire('k')).release();
  const settings = moduleSettings(options);
  const { servers } = await connectToEach(settings.redis, settings, systemClock);
  for (const server of servers) if ('connection' in server) server.connection.close();
  expect(servers).toHaveLength(3);
});

it('an answer of a server that names no command of ours is not repeated', async () => {
  const proxy = await FaultProxy.before(await redis());
  closing.push(() => proxy.close());
  proxy.fate = ([word]) => (word === 'time' ? "-ERR unknown command 'pl4ntedw0rd'" : 'pass');
  const error = await failureOf(plainly(proxy.port), false);
  expect(String(error)).toMatch(/does not know the command that locks need/);
  expect(String(error)).not.toMatch(SECRET);
});

it('a command that only a script calls, and that is disabled, is final at the first call', async () => {
  const client = new LockProcess(plainly(await redis('--rename-command', 'ZADD', '')));
  closing.push(() => client.close());
  await client.locks.open();
  const lease = await client.acquire('k');
  const error: unknown = await client.acquire('k').catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'LOCK_STORE', retryable: false });
  expect(String(error)).toMatch(/a command that Redis does not know/);
  await lease.release();
});

it('what tells no time after a reconnect is not used until it does', async () => {
  const proxy = await FaultProxy.before(await redis());
  closing.push(() => proxy.close());
  const client = new LockProcess(plainly(proxy.port, { commandTimeout: 500 }));
  closing.push(() => client.close());
  await client.locks.open();
  let asked = 0;
  proxy.fate = ([word]) => {
    if (word !== 'time') return 'pass';
    asked += 1;
    return '$4\r\ntime';
  };
  proxy.reset();
  await until('it is asked again and again', () => asked >= 3);
  await expect(client.acquire('k', { wait: 0 })).rejects.toThrow('not connected');
  proxy.heal();
  await until('it is used', () =>
    client.acquire('k', { wait: 0 }).then(
      (lease) => lease.release(),
      () => false,
    ),
  );
});

it('a replica that is promoted while a process starts is used', async () => {
  const port = await redis('--replicaof', '127.0.0.1', '1');
  const client = new LockProcess(plainly(port));
  closing.push(() => client.close());
  const opening = client.locks.open();
  const admin = new Redis(port, '127.0.0.1');
  await admin.replicaof('NO', 'ONE');
  admin.disconnect();
  await opening;
  expect(await (await client.acquire('k')).release()).toBe(true);
});

it.each([
  [['redis_version:7.2.4', 'server_name:valkey', 'valkey_version:8.1.3'], 'Valkey 8.1.3'],
  [['redis_version:7.2.4', 'redict_version:7.3.2'], 'Redict 7.3.2'],
  [['redis_version:7.4.0', 'dragonfly_version:df-v1.30.0'], 'Dragonfly df-v1.30.0'],
  [['redis_version:8.0.1'], 'Redis 8.0.1'],
])('a server is logged by its own name: %j', async (info, name) => {
  const port = await disguised(...info);
  const client = new LockProcess(plainly(port));
  closing.push(() => client.close());
  await client.locks.open();
  expect(client.store.describe().found).toBe(`${name} at 127.0.0.1:${port}/0`);
});
