import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis, type RedisOptions } from 'ioredis';
import { ReplicasNotReachedError } from '../../lib/engine/errors/index.js';
import type { RedisLockOptions } from '../../lib/engine/options/index.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { SentinelProcess } from '../../tools/redis-sentinel.js';
import { controlOf } from '../support/control.js';
import { fencedWrite } from '../support/fenced-store.js';
import { LockProcess } from '../support/lock-process.js';
import { until } from '../support/until.js';

const TRIALS = process.env['FULL'] ? 20 : 1;
/** What the new primary has of a lease that only the old one renews ends after this, in ms. */
const TTL = 12_000;
/** Of a lease that nothing here may end, in ms: when the primary stands still, two thirds are left, longer than a failover takes. */
const LASTING = { ttl: 36_000 };

let group: SentinelProcess;
let resource: RedisProcess;
let closing: (() => unknown)[] = [];
beforeEach(async () => {
  group = await SentinelProcess.start();
  resource = await RedisProcess.start();
}, 60_000);
afterEach(async () => {
  for (const server of group.servers) server.signal('SIGCONT');
  await Promise.all(closing.map((close) => close()));
  closing = [];
  await Promise.all([group.stop(), resource.stop()]);
});

async function client(options: RedisLockOptions): Promise<LockProcess> {
  const made = new LockProcess({
    commandTimeout: 1_000,
    ttl: TTL,
    wait: 30_000,
    durability: 'ignore',
    ...options,
  });
  closing.push(() => made.close());
  await made.locks.open();
  return made;
}

function plain(options: RedisOptions): Redis {
  const redis = controlOf(options);
  closing.push(() => redis.disconnect());
  return redis.on('error', () => {});
}

/**
 * A primary stands still until another is promoted, and comes back: for seconds there are two. Who knows the
 * Sentinels is moved; who only knows the old one, or has not heard of it yet, goes on there.
 */
describe('two primaries', () => {
  it.each(Array.from({ length: TRIALS }, (_, trial) => trial + 1))(
    'trial %i',
    async () => {
      const first = group.servers[0]!;
      const acks = { replicas: { acks: 1, timeout: 500 } };
      const stock = plain(group.source); // as ioredis does it
      const moved = await client({ redis: group.source });
      const [left, confirmed] = await Promise.all([
        client({ redis: first.url }),
        client({ redis: first.url, ...acks }),
      ]);
      const [kept, robbed, alone, backed] = await Promise.all([
        moved.acquire('moved', LASTING),
        moved.acquire('robbed', LASTING),
        left.acquire('alone', LASTING),
        confirmed.acquire('backed'),
      ]);
      await stock.set('all', 'is replicated');
      expect(await stock.wait(2, 10_000)).toBe(2);

      first.signal('SIGSTOP');
      await until(
        'another is promoted',
        async () => (await group.primary()) !== first.port,
        20_000,
      );
      const successor = await client({ redis: group.source, ...acks });
      const promoted = plain({ port: await group.primary() });
      // A replica that still followed the old one could confirm what the new one does not have: one ack of two is not all.
      await until('the other replica follows it', async () => {
        await promoted.set('all', 'is replicated');
        return (await promoted.wait(1, 1_000)) === 1;
      });
      first.signal('SIGCONT');
      const acquiring = { alone: successor.acquire('alone'), backed: successor.acquire('backed') };

      // The negative control: with ioredis’ defaults both get it.
      expect(await promoted.set('control', 'new', 'PX', 60_000, 'NX')).toBe('OK');
      expect(await stock.set('control', 'old', 'PX', 60_000, 'NX')).toBe('OK');
      // The same of ours, where one does not ask for replicas and does not know the Sentinels.
      const fresh = await successor.acquire('fresh');
      await until('it is connected', () => left.store.ready);
      const twice = await left.acquire('fresh');
      expect([fresh.held, twice.held]).toEqual([true, true]);
      // Who asks for replicas gets nothing from a primary that has none.
      await until('it is refused', () =>
        confirmed.acquire('other', { wait: 0 }).then(
          () => Promise.reject(new Error('It was granted.')),
          (error: unknown) => error instanceof ReplicasNotReachedError,
        ),
      );

      // Who knows the Sentinels was moved and still holds what was replicated.
      await until('it is verified', () => moved.store.ready);
      expect(await successor.locks.tryAcquire('moved', successor.settings.call)).toBeNull();
      expect(kept.held).toBe(true);

      // A lock that the failover lost: its holder learns it, and what it writes is refused.
      const { fencingToken: stale, signal } = robbed;
      await promoted.del('lock:robbed');
      const newer = await successor.acquire('robbed');
      await until('the loser learns it', () => signal.aborted);
      expect(['gone', 'taken']).toContain(signal.reason.reason); // not by the end of its lease
      const store = plain({ port: resource.port });
      expect(await fencedWrite(store, 'robbed', newer.fencingToken, 'newer')).toBe(true);
      expect(await fencedWrite(store, 'robbed', stale, 'stale')).toBe(false);

      // What was held on the old one: renewed there by both, believed only by who asked for no replicas.
      await promoted.pexpire('lock:alone', 1); // as it would by itself
      expect((await acquiring.backed).held).toBe(true);
      expect(backed.held).toBe(false);
      expect((await acquiring.alone).held).toBe(true);
      expect(alone.held).toBe(true);
    },
    60_000,
  );
});
