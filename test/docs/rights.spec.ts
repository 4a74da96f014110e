import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Redis } from 'ioredis';
import { LockService, RedisLockModule, type RedisLockOptions } from 'nest-redis-lock';
import {
  conditions as condition,
  exclusive as lock,
  shares,
} from '../../lib/engine/locks/native-scripts.js';
import { speak } from '../../lib/engine/locks/dialects/dialect-lock.js';
import { stepsOf } from '../../lib/engine/locks/dialects/try-out.js';
import { scripts as epoch } from '../../lib/engine/locks/server-epoch.js';
import { scripts as quorum } from '../../lib/engine/locks/quorum/quorum-node.js';
import { lockFormat, type LockDialect } from '../../lib/engine/options/index.js';
import { ClusterProcess } from '../../tools/redis-cluster.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { closeAll, closing } from '../support/closing.js';
import { until } from '../support/until.js';
import {
  formats,
  isCommand,
  keysOf,
  LISTED,
  listedFor,
  MORE_IN_A_CLUSTER,
  neededBy,
  OF_OTHERS,
  page,
  spoken,
  usedBy,
} from './listed-rights.js';

const credentials = { username: 'locks', password: 'pw' };

afterEach(closeAll);

it('Operations lists no command that neither scripts nor connections use', () => {
  const scripts = [lock, shares, condition, epoch, quorum].flatMap(usedBy);
  const sent = ['evalsha', 'eval', 'subscribe', 'wait', 'scan', 'info', 'select'];
  const used = new Set([...scripts, ...sent.map((command) => `+${command}`)]);
  expect(LISTED.filter(isCommand).sort()).toEqual([...used].sort());
});

it.each(Object.entries(formats))(
  'Operations lists no command for dialect %s that its scripts do not use',
  (format, [scripts, ...sent]) => {
    const more = [...usedBy(scripts), ...sent].filter((right) => !LISTED.includes(right));
    expect(listedFor(format).filter(isCommand).sort()).toEqual([...new Set(more)].sort());
  },
);

it.each(['allchannels', 'resetchannels'])(
  'another user, as Operations lists its rights, neither reads nor ends locks, nor hears or sends their messages; by default: %s',
  async (channels) => {
    const server = await start(['--acl-pubsub-default', channels]);
    await asAdmin(server, 'ACL', 'SETUSER', 'other', 'on', '>pw', ...OF_OTHERS);
    const redis = { host: '127.0.0.1', port: server.port };
    const other = new Redis({ ...redis, username: 'other', password: 'pw' });
    closing.push(async () => other.disconnect());
    for (const [command, ...args] of [
      ['PUBLISH', 'lock:inbox:a', 'forced b'],
      ['EVAL', "return redis.call('PUBLISH', 'lock:inbox:a', 'x')", '0'],
      ['GET', 'lock:k'],
      ['ZRANGE', '{lock:k}:queue', '0', '-1'],
      ['SUBSCRIBE', 'lock:inbox:a'],
      ['PSUBSCRIBE', 'lock:inbox:*'],
      ['PSUBSCRIBE', '*'],
      ['MONITOR'],
      ['DEL', 'lock:k'],
      ['SET', 'lock:k', 'mine'],
      ['PEXPIRE', '{lock:k}:queue', '1'],
      ['EVAL', "return redis.call('DEL', KEYS[1])", '1', 'lock:k'],
      ['EVAL', "return redis.call('DEL', 'lock:k')", '0'],
      ['KEYS', '*'],
      ['FLUSHALL'],
      ['FLUSHDB'],
      ['SWAPDB', '0', '1'],
      ['RESTORE', 'other:key', '0', ''],
    ]) {
      await expect(other.call(command!, ...args)).rejects.toThrow(
        /NOPERM|can't (access|publish|run)|No permissions/,
      );
    }
    expect(await other.set('other:key', 'value')).toBe('OK');
    expect(await other.publish('other:channel', 'word')).toBe(0);
  },
);

describe('a user with the rights that Operations lists', () => {
  it('can all that locks do on one Redis', async () => {
    const server = await start();
    await grant([server], LISTED);
    const redis = { host: '127.0.0.1', port: server.port, ...credentials };
    await useAll(await locksOn({ redis, durability: 'refuse' }));
  });

  it.each([false, true])(
    'that lacks any one of them is told which, before the first lock; lazily: %s',
    async (lazyConnect) => {
      const server = await start();
      const redis = { host: '127.0.0.1', port: server.port, ...credentials };
      const of = [lock, shares, condition].flatMap(usedBy);
      const lacking = [...LISTED.filter((right) => of.includes(right)), '~lock:*', '~{lock:*'];
      for (const right of lacking) {
        if (right === '+publish' || right === '+time') continue; // tried as such
        await grant(
          [server],
          LISTED.filter((each) => each !== right),
        );
        const used = locksOn({ redis, lazyConnect }).then(([locks]) => locks.acquire('least'));
        const named = right.startsWith('~')
          ? 'right ~<keyPrefix>* ~{<keyPrefix>*'
          : `right ${right}`;
        await expect(used).rejects.toThrow(
          `the Redis user lacks the ${named} (NOPERM); see "Redis rights" in docs/operations.md`,
        );
      }
      expect(lacking.length).toBeGreaterThan(15);
      await grant(
        [server],
        LISTED.filter((each) => !['+zadd', '+zrem', '+del'].includes(each)),
      );
      await expect(locksOn({ redis })).rejects.toThrow(
        'lacks the rights +del +zadd +zrem (NOPERM)',
      );
      expect(await asAdmin(server, 'DBSIZE')).toBe(0);
    },
  );

  it('that lacks a right on a node of a quorum is told at the start', async () => {
    const servers = await Promise.all([1, 2, 3].map(() => start()));
    await grant(
      servers,
      LISTED.filter((each) => each !== '+pexpire'),
    );
    const nodes = servers.map(({ url }) => url.replace('//', '//locks:pw@'));
    await expect(locksOn({ nodes })).rejects.toThrow('lacks the right +pexpire (NOPERM)');
  });

  it('that loses a right while it holds a lock is told which', async () => {
    const server = await start();
    await grant([server], LISTED);
    const redis = { host: '127.0.0.1', port: server.port, ...credentials };
    const [locks, others] = await locksOn({ redis });
    await locks.acquire('least');
    await grant(
      [server],
      LISTED.filter((each) => each !== '+zadd'),
    );
    const failure: unknown = await others.acquire('least').catch((error: unknown) => error);
    expect((failure as Error).message).toMatch(/lacks (the right \+zadd|a right) \(NOPERM\)/); // unnamed up to 7.0
    expect((failure as Error).message).not.toContain('locks');
  });

  it('can be made where users may use all channels by default, as in Redis 6.2', async () => {
    const server = await start(['--acl-pubsub-default', 'allchannels']);
    await grant([server], LISTED);
    const redis = { host: '127.0.0.1', port: server.port, ...credentials };
    await useAlone(await locksOn({ redis }));
    await asAdmin(server, 'ACL', 'LOG', 'RESET');
    const user = new Redis(redis);
    closing.push(async () => user.disconnect());
    await expect(user.publish('another', 'word')).rejects.toThrow('NOPERM');
  });

  it('can have replicas confirm', async () => {
    const server = await start(['--repl-diskless-sync-delay', '0']);
    await start(['--replicaof', '127.0.0.1', String(server.port)]);
    await grant([server], LISTED);
    const redis = server.url.replace('//', '//locks:pw@');
    await useAll(await locksOn({ redis, replicas: { acks: 1, timeout: '1s' }, ttl: '10s' }));
  });

  it('can all that locks do on a Cluster, with what is listed for that', async () => {
    for (const right of MORE_IN_A_CLUSTER) expect(page).toContain(`\`${right}\``);
    const cluster = await ClusterProcess.start();
    closing.push(() => cluster.stop());
    await grant(cluster.servers, [...LISTED, ...MORE_IN_A_CLUSTER]);
    await useAll(await locksOn({ redis: { cluster: cluster.seeds, ...credentials } }));
  });

  it.each(spoken)(
    'can all that locks do in dialect %j, with what is listed for it',
    async (dialect) => {
      const server = await start();
      const { lasting, prefix, suffix, unit } = lockFormat(dialect);
      await grant([server], [...LISTED, ...keysOf(prefix), ...neededBy(dialect)]);
      if (lasting)
        await asAdmin(
          server,
          'SET',
          `${prefix}least${suffix}`,
          unit === 'ms' ? '1600000000000' : '1600000000',
        ); // to be taken over
      const redis = { host: '127.0.0.1', port: server.port, ...credentials };
      await useDialect(await locksOn({ redis, dialect }), dialect);
      expect(await refused(server)).toEqual([]);
    },
  );

  it.each(spoken)(
    'that lacks one of those of dialect %j is told, before a lock is taken',
    async (dialect) => {
      const server = await start();
      const settings = lockFormat(dialect);
      const { family, prefix, suffix } = settings;
      const listed = neededBy(dialect);
      const speaks = speak(settings, '');
      const used = usedBy(Object.fromEntries(stepsOf(speaks).entries()));
      const commands = listed.filter((right) => isCommand(right) && used.includes(right));
      const patterns = family === 'python-redis-lock' ? ['~lock-signal:*'] : [];
      const redis = { host: '127.0.0.1', port: server.port, ...credentials };
      for (const lacking of [...commands, ...patterns]) {
        const rights = [...LISTED, ...keysOf(prefix), ...listed].filter(
          (right) => right !== lacking,
        );
        await grant([server], rights);
        const [locks] = await locksOn({ redis, dialect });
        await expect(locks.acquire('least')).rejects.toMatchObject({
          code: 'LOCK_STORE',
          retryable: false,
        });
        expect(await asAdmin(server, 'EXISTS', `${prefix}least${suffix}`)).toBe(0);
      }
    },
  );

  it('that loses the right to a key of the release takes no further lock', async () => {
    const server = await start();
    const rights = [...LISTED, ...listedFor('python-redis-lock')];
    await grant([server], rights);
    const redis = { host: '127.0.0.1', port: server.port, ...credentials };
    const [locks] = await locksOn({ redis, dialect: 'python-redis-lock' });
    await (await locks.acquire('least')).release();
    await grant(
      [server],
      rights.filter((right) => right !== '~lock-signal:*'),
    );
    await expect(locks.acquire('least')).rejects.toMatchObject({ code: 'LOCK_STORE' });
    expect(await asAdmin(server, 'EXISTS', 'lock:least')).toBe(0);
  });

  it('that loses a right is told once in the log what was refused', async () => {
    const server = await start();
    const listed = listedFor('python-redis-lock');
    const rights = [...LISTED, ...listed];
    await grant([server], rights);
    const redis = { host: '127.0.0.1', port: server.port, ...credentials };
    const said = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => {});
    closing.push(async () => said.mockRestore());
    const [locks] = await locksOn({ redis, dialect: 'python-redis-lock' });
    const leases = await Promise.all(['a', 'b'].map((key) => locks.acquire(key, { ttl: '1s' })));
    const without = rights.filter((right) => !['~lock-signal:*', '~lock:*'].includes(right));
    await grant([server], without);
    const texts = (): string[] => said.mock.calls.map(([text]) => String(text));
    await until('both are over', () => leases.every(({ held }) => !held));
    for (const lease of leases) await lease.release();
    await until('both refusals are said', () => texts().length === 2);
    expect(texts()[0]).toMatch(/^A lease could not be renewed, .*\(NOPERM\)/);
    expect(texts()[1]).toMatch(/^A lock could not be given back, .*\(NOPERM\)/);
    await until('nobody asks any more', () =>
      locks.tryAcquire('c').then(
        () => true,
        () => true,
      ),
    );
    expect(texts()).toHaveLength(2);
    expect(texts().join().replaceAll('"Redis rights"', '')).not.toMatch(/"|lock:/);
  });

  it('can all that locks do on a quorum', async () => {
    const servers = await Promise.all([1, 2, 3].map(() => start()));
    await grant(servers, LISTED);
    const nodes = servers.map(({ url }) => url.replace('//', '//locks:pw@'));
    await useAlone(await locksOn({ nodes, durability: 'refuse' }));
  });
});

/** Asks a server as one who may do everything. */
async function asAdmin(server: RedisProcess, command: string, ...args: string[]): Promise<unknown> {
  const admin = new Redis(server.url);
  try {
    return await admin.call(command, ...args);
  } finally {
    admin.disconnect();
  }
}

/** Makes a user who has these rights and no more. */
async function grant(servers: readonly RedisProcess[], rights: readonly string[]): Promise<void> {
  for (const server of servers) {
    await asAdmin(server, 'ACL', 'SETUSER', 'locks', 'reset', 'on', '>pw', ...rights);
  }
}

/** What a server has refused: a channel is refused without a word to the caller. */
async function refused(server: RedisProcess): Promise<string[]> {
  const log = (await asAdmin(server, 'ACL', 'LOG')) as string[][];
  return log.map((entry) => entry[entry.indexOf('object') + 1]!);
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
  expect((await locks.health({ timeout: '10s' })).problems).toEqual([]);
  expect((await locks.inspect('least')).state).toBe('held');
  expect(await locks.list('least')).toHaveLength(1);
  await lease.extend();
  await lease.release();
  await (await waiting).release();
  await others.forceRelease('least');
  await locks.withLock(['least', 'more'], () => 1);
}

/** What every dialect can, and what this one can beside it. */
async function useDialect([locks, others]: Pair, dialect: LockDialect): Promise<void> {
  const { shared, minHold } = lockFormat(dialect);
  const ways = [{}, ...(shared ? [{ mode: 'shared' as const }] : [])];
  for (const options of ways) {
    const lease = await locks.acquire('least', options);
    const waiting = others.acquire('least');
    expect((await others.inspect('least')).state).toBe('held');
    await lease.extend();
    expect(await lease.release()).toBe(true);
    await (await waiting).extend();
    expect(await locks.forceRelease('least')).toBe(true);
  }
  expect((await locks.health({ timeout: '10s' })).problems).toEqual([]);
  if (minHold) await (await locks.acquire('kept', { minHold: 1 })).release();
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
