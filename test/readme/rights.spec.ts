import { afterEach, describe, expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { Redis } from 'ioredis';
import { readFileSync } from 'node:fs';
import { LockService, RedisLockModule, type RedisLockOptions } from 'nest-redis-lock';
import { scripts as condition } from '../../lib/locks/condition/scripts.js';
import { scripts as lock } from '../../lib/locks/lock/scripts.js';
import { scripts as quarantine } from '../../lib/locks/quarantine/scripts.js';
import { scripts as quorum } from '../../lib/locks/quorum/scripts.js';
import { scripts as shares } from '../../lib/locks/shares/scripts.js';
import { ClusterProcess } from '../../tools/redis-cluster.js';
import { RedisProcess } from '../../tools/redis-server.js';

const readme = readFileSync('README.md', 'utf8');
const LISTED = /^user locks on >… ([^]*?)```/m.exec(readme)![1]!.trim().split(/\s+/);
const MORE_IN_A_CLUSTER = ['+cluster|slots', '+asking'];
const credentials = { username: 'locks', password: 'pw' };

let closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.reverse()) await close();
  closing = [];
});

/** Makes a user who has these rights and no more. */
async function grant(servers: readonly RedisProcess[], rights: readonly string[]): Promise<void> {
  for (const { url } of servers) {
    const admin = new Redis(url);
    await admin.call('ACL', 'SETUSER', 'locks', 'reset', 'on', '>pw', ...rights);
    admin.disconnect();
  }
}

type Pair = readonly [LockService, LockService];

async function locksOn(options: RedisLockOptions): Promise<Pair> {
  const start = async (): Promise<LockService> => {
    const imports = [RedisLockModule.forRoot({ ttl: '1s', wait: '20s', ...options })];
    const module = await (await Test.createTestingModule({ imports }).compile()).init();
    closing.push(() => module.close());
    return module.get(LockService);
  };
  return [await start(), await start()];
}

/** What every topology can, for two processes. */
async function useAlone([locks, others]: Pair): Promise<void> {
  const lease = await locks.acquire('least', { minHold: 1 });
  const waiting = others.acquire('least');
  expect((await locks.inspect('least')).state).toBe('held');
  expect(await locks.list('least')).toHaveLength(1);
  await lease.extend();
  await lease.release();
  await (await waiting).release();
  await others.forceRelease('least');
  await locks.withLock(['least', 'more'], () => 1);
}

async function useAll([locks, others]: Pair): Promise<void> {
  await useAlone([locks, others]);
  expect(await (await locks.optimistic('least')).validate()).toBe(true);
  await locks.withLock(['least', 'more'], async (both) => both.downgrade());
  await (await locks.restore(await (await locks.acquire('least')).handOver())).release();
  await Promise.all([1, 2, 3].map(() => locks.withLock('least', { mode: 'shared' }, () => 1)));
  const semaphore = locks.semaphore('permits', { permits: 1 });
  await Promise.all([1, 2].map(() => semaphore.withPermit(async (permit) => permit.extend())));
  await locks.withLock('least', async (held) => {
    const changed = locks.condition(held, 'changed');
    expect(await changed.await({ wait: 1 })).toBe(false);
    expect([await changed.signal(), await changed.signalAll()]).toEqual([false, 0]);
  });
}

async function start(args?: readonly string[]): Promise<RedisProcess> {
  const server = await RedisProcess.start(args ? { args } : {});
  closing.push(() => server.stop());
  return server;
}

it('the README lists no command that neither scripts nor connections use', () => {
  const texts = [lock, shares, condition, quarantine, quorum]
    .flatMap((scripts) => Object.values<{ source: string }>(scripts))
    .map(({ source }) => source);
  const scripts = [...texts.join().matchAll(/redis\.p?call\('(\w+)'/g)].map(
    ([, command]) => `+${command!.toLowerCase()}`,
  );
  const sent = ['evalsha', 'eval', 'subscribe', 'wait', 'scan', 'info', 'select'];
  const used = new Set([...scripts, ...sent.map((command) => `+${command}`)]);
  expect(LISTED.filter((right) => right.startsWith('+')).sort()).toEqual([...used].sort());
});

describe('a user with the rights that the README lists', () => {
  it('can all that locks do on one Redis', async () => {
    const server = await start();
    await grant([server], LISTED);
    const redis = { host: '127.0.0.1', port: server.port, ...credentials };
    await useAll(await locksOn({ redis, durability: 'refuse' }));
  });

  it('can have replicas confirm', async () => {
    const server = await start(['--repl-diskless-sync-delay', '0']);
    await start(['--replicaof', '127.0.0.1', String(server.port)]);
    await grant([server], LISTED);
    const redis = server.url.replace('//', '//locks:pw@');
    await useAll(await locksOn({ redis, replicas: { acks: 1, timeout: '1s' }, ttl: '10s' }));
  });

  it('can all that locks do on a Cluster, with what is listed for that', async () => {
    for (const right of MORE_IN_A_CLUSTER) expect(readme).toContain(`\`${right}\``);
    const cluster = await ClusterProcess.start();
    closing.push(() => cluster.stop());
    await grant(cluster.servers, [...LISTED, ...MORE_IN_A_CLUSTER]);
    await useAll(await locksOn({ redis: { cluster: cluster.seeds, ...credentials } }));
  });

  it('can all that locks do on a quorum', async () => {
    const servers = await Promise.all([1, 2, 3].map(() => start()));
    await grant(servers, LISTED);
    const nodes = servers.map(({ url }) => url.replace('//', '//locks:pw@'));
    await useAlone(await locksOn({ nodes, durability: 'refuse' }));
  });
});
