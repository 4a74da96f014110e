import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
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
import { freePort } from '../../tools/redis-server.js';
import { closeAll, closing } from '../support/closing.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { LockProcess } from '../support/lock-process.js';
import { BEFORE_START_TIMEOUT, COMMAND } from '../support/bounds.js';
import { slowClock } from '../support/slow-clock.js';
import { until } from '../support/until.js';
import { cases, disguised, impostor, plainly, redis } from './unusable-servers.js';

const SECRET = /us3r|pl4nt|w0rd/;

afterAll(closeAll);

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
