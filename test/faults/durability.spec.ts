import { afterEach, describe, expect, it } from '@jest/globals';
import { LockOptionsError, LockStoreError } from '../../lib/engine/errors/index.js';
import type { LockStore } from '../../lib/engine/locks/lock-store.js';
import { QuorumLockStore } from '../../lib/engine/locks/quorum/quorum-lock-store.js';
import { RedisLockStore } from '../../lib/engine/locks/lock/redis-lock-store.js';
import {
  moduleSettings,
  type RedisLockOptions,
  type RedisSource,
  systemClock,
} from '../../lib/engine/options/index.js';
import { linked } from '../../tools/redis-sentinel.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { closeAll, closing } from '../support/closing.js';
import { controlOf } from '../support/control.js';
import { StallingClock } from '../support/stalling-clock.js';
import { countTrials } from '../support/trials.js';
import { until } from '../support/until.js';
import { LockingProcess, withSteps } from '../support/world.js';

const TRIALS = process.env['FULL'] ? 10 : 1;
const TTL = 2_000;
/** Of a lease that somebody else is to be granted beside, without a grace period: no machine is so slow. */
const LASTING = 60_000;

afterEach(closeAll);

describe('durability', () => {
  const warningsOf = async (options: RedisLockOptions): Promise<string> =>
    (await member(options)).store.describe().warnings.join('\n');

  it.each(['volatile-ttl', 'volatile-lru', 'allkeys-lru', 'allkeys-random'])(
    'warns of %s, and refuses it',
    async (policy) => {
      const { url } = await server('--maxmemory-policy', policy, '--appendonly', 'yes');
      expect(await warningsOf({ redis: url })).toMatch(
        new RegExp(`^maxmemory-policy is ${policy}: Redis may evict locks that are held`),
      );
      expect(await warningsOf({ redis: url, durability: 'ignore' })).toBe('');
      const refused = member({ redis: url, durability: 'refuse' });
      await expect(refused).rejects.toBeInstanceOf(LockOptionsError);
      await expect(refused).rejects.toThrow(`maxmemory-policy is ${policy}`);
    },
  );

  it('warns of a server without an append-only file, which a grace period makes harmless', async () => {
    const { url } = await server();
    expect(await warningsOf({ redis: url })).toMatch(/^Redis has no append-only file/);
    expect(await warningsOf({ redis: url, durability: 'refuse' })).not.toMatch('append-only');
    const { url: durable } = await server('--appendonly', 'yes');
    expect(await warningsOf({ redis: durable })).toBe('');
  });

  it('warns of a replicated primary that takes what no replica has, and refuses it', async () => {
    const primary = await server('--appendonly', 'yes', '--repl-diskless-sync-delay', '0');
    await server('--replicaof', '127.0.0.1', String(primary.port));
    const control = controlOf(primary.url);
    closing.push(() => control.disconnect());
    await until('it is replicated', () => linked(control, 1));
    const redis: RedisSource = primary.url;
    expect(await warningsOf({ redis })).toMatch(/^It is replicated, and takes writes/);
    await expect(member({ redis, durability: 'refuse' })).rejects.toThrow('It is replicated');
    expect(await warningsOf({ redis, replicas: { acks: 1 } })).toBe('');
    expect(await warningsOf({ redis, replicas: { acks: 2 } })).toMatch(/asks for 2 and 1 are/);
    await control.config('SET', 'min-replicas-to-write', '1');
    expect(await warningsOf({ redis })).toBe('');
  });

  it('refuses no server whose replicas are away: it grants nothing until they are there', async () => {
    const { url } = await server('--appendonly', 'yes');
    const alone = await member({ redis: url, replicas: { acks: 1 }, durability: 'refuse' });
    expect(alone.store.describe().warnings.join()).toMatch(/asks for 1 and 0 are connected/);
    await expect(alone.acquire({ wait: 0 })).rejects.toBeInstanceOf(LockStoreError);
  });

  it('refuses a user who may not look', async () => {
    const { url } = await server();
    const control = controlOf(url);
    closing.push(() => control.disconnect());
    await control.call('ACL', 'SETUSER', 'blind', 'on', '>pw', '~*', '&*', '+@all', '-info');
    const redis = url.replace('//', '//blind:pw@');
    await expect(member({ redis, durability: 'refuse' })).rejects.toThrow(/NOPERM/);
    await member({ redis });
  });

  it('has one grace period after the clock of its server was set back, not one for each connection', async () => {
    const { url } = await server();
    const control = controlOf(url);
    closing.push(() => control.disconnect());
    await member({ redis: url, durability: 'refuse', keyPrefix: 'lock:' });
    const epoch = async (): Promise<[run: string, since: number]> => {
      const [run, since] = (await control.get('lock:{}:generation'))!.split(' ');
      return [run!, Number(since)];
    };
    const [run, since] = await epoch();
    await control.set('lock:{}:generation', `${run} ${since + 3_600_000}`);
    await member({ redis: url, durability: 'refuse', keyPrefix: 'lock:' });
    expect((await epoch())[1]).toBeLessThanOrEqual(Date.now());
  });

  it('refuses a lease that is longer than the grace period', async () => {
    const { url } = await server();
    const process = await member({ redis: url, durability: 'refuse' });
    const lease = await until('a grant', () => process.acquire().catch(() => undefined));
    await expect(process.acquire({ key: 'other', ttl: TTL + 1 })).rejects.toThrow(
      `no lease is longer than the module's "ttl" (${TTL} ms)`,
    );
    await expect(lease.extend(TTL + 1)).rejects.toBeInstanceOf(LockOptionsError);
    expect(lease.held).toBe(true);
  });
});

/** What loses the data of one server, and how it is lost. */
const losses: Record<string, (lost: RedisProcess) => Promise<string>> = {
  'is restarted without its data': async (lost) => {
    await lost.kill();
    await lost.run();
    return lost.url;
  },
  'is restarted with an old snapshot': async (lost) => {
    await lost.kill(); // the snapshot was taken before the lock
    await lost.run();
    return lost.url;
  },
};

describe.each(Object.keys(losses))('a Redis that %s', (loss) => {
  const snapshot = loss.includes('snapshot');

  function twoHolders(durability: 'warn' | 'refuse'): Promise<number> {
    const ttl = durability === 'warn' ? LASTING : TTL;
    return countTrials(TRIALS, async () => {
      const redis = await server(...(snapshot ? ['--save', '3600 1'] : []));
      const options: RedisLockOptions = { redis: redis.url, durability, ttl, keyPrefix: 'lock:' };
      if (snapshot) {
        await member(options);
        const control = controlOf(redis.url);
        await control.save();
        control.disconnect();
      }
      const held = await heldByNow(options);
      await losses[loss]!(redis);
      const second = await member(options);
      expect(graceOf(second)).toBeLessThanOrEqual(durability === 'warn' ? 0 : TTL);
      const lease = await until(
        'somebody else is granted it',
        () => second.acquire({ wait: 0 }).catch(() => undefined),
        20_000,
      );
      expect(lease.held).toBe(true);
      return held();
    });
  }

  it('has two holders without a grace period', async () => {
    expect(await twoHolders('warn')).toBe(TRIALS);
  });

  it('has none with it', async () => {
    expect(await twoHolders('refuse')).toBe(0);
  });
});

describe('an empty replica that is promoted', () => {
  it('is in its grace period; what is held elsewhere is renewed', async () => {
    const [primary, empty] = [await server(), await server()];
    const options: RedisLockOptions = { redis: primary.url, durability: 'refuse' };
    const held = await heldByNow(options);
    const second = await member({ ...options, redis: empty.url });
    await expect(second.acquire({ wait: 0 })).rejects.toThrow(
      'this Redis was started or promoted and may have forgotten locks that are held',
    );
    expect(graceOf(second)).toBeLessThanOrEqual(TTL);
    await until('it is over', () => second.acquire({ wait: 0 }).catch(() => undefined), 20_000);
    expect(held()).toBe(false);
  });
});

describe('a quorum of three of which one is restarted without its data', () => {
  /** Holder by nodes 1 and 2; node 2 forgets it; somebody else asks nodes 2 and 3. */
  function twoHolders(durability: 'warn' | 'refuse'): Promise<number> {
    const ttl = durability === 'warn' ? LASTING : TTL;
    return countTrials(TRIALS, async () => {
      const servers = await Promise.all([server(), server(), server()]);
      const nodes = servers.map(({ url }) => url);
      const options: RedisLockOptions = { nodes, durability, ttl };
      const first = await member(options); // from here on all three are known
      await until(
        'it is past the grace period',
        () => !first.store.describe().warnings.join().includes('No lock is granted'),
      );
      servers[2]!.signal('SIGSTOP');
      const held = await heldByNow(options);
      servers[2]!.signal('SIGCONT');
      await servers[1]!.kill();
      await servers[1]!.run();
      servers[0]!.signal('SIGSTOP');
      const second = await member(options);
      expect(graceOf(second)).toBeLessThanOrEqual(durability === 'warn' ? 0 : TTL);
      await until(
        'somebody else is granted it',
        () => second.acquire({ wait: 0 }).catch(() => undefined),
        20_000,
      );
      const both = held();
      servers[0]!.signal('SIGCONT');
      return both;
    });
  }

  it('has two holders without a grace period', async () => {
    expect(await twoHolders('warn')).toBe(TRIALS);
  });

  it('has none with it', async () => {
    expect(await twoHolders('refuse')).toBe(0);
  });
});

/** A lease of a process that is cut off as soon as it has it: it renews nothing and hears nothing. */
async function heldByNow(options: RedisLockOptions): Promise<() => boolean> {
  const deaf = { extend: () => new Promise<never>(() => {}) };
  const holder = await member(options, (store) => withSteps(store, deaf));
  const lease = await until(
    'the lock is granted',
    () => holder.acquire({ renew: false }).catch(() => undefined),
    20_000,
  );
  return () => lease.held;
}

/** How long it will be granted nothing, in ms. */
function graceOf({ store }: LockingProcess): number {
  const [, ms = 0] =
    /No lock is granted for the next (\d+) ms/.exec(store.describe().warnings.join()) ?? [];
  return Number(ms);
}

async function member(
  options: RedisLockOptions,
  wrap: (store: LockStore) => LockStore = (store) => store,
): Promise<LockingProcess> {
  const settings = moduleSettings({ ttl: TTL, commandTimeout: 500, ...options });
  const Store = settings.nodes ? QuorumLockStore : RedisLockStore;
  const clock = new StallingClock(systemClock);
  const process = new LockingProcess(wrap(new Store(settings, clock)), settings, clock, undefined);
  closing.push(() => process.locks.close());
  await process.locks.open();
  return process;
}

async function server(...args: string[]): Promise<RedisProcess> {
  const started = await RedisProcess.start({ args });
  closing.push(() => started.stop());
  return started;
}
