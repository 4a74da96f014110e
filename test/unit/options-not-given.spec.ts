import { afterAll, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { boardSettings } from '../../lib/watch/board/board-options.js';
import { LeaderOnly, LockOptionsError, RedisLockModule } from '../../lib/index.js';
import { lockFormat, moduleSettings, topologyOf } from '../../lib/engine/options/index.js';
import { registerLockMetrics } from '../../lib/watch/prometheus/index.js';
import { memoryLockService } from '../../lib/memory/testing/index.js';

const locks = memoryLockService();
afterAll(() => locks[Symbol.asyncDispose]());

const semaphore = locks.semaphore('permits', { permits: 1 });
const work = async (): Promise<number> => 1;

it.each(Object.entries(places()))('%s takes an undefined option for none', async (_, give) => {
  await give({ other: undefined });
});

it.each(Object.entries(places()))('%s refuses an option that it does not have', async (_, give) => {
  const given = async (): Promise<unknown> => give({ other: 1 });
  await expect(given()).rejects.toThrow(LockOptionsError);
  await expect(given()).rejects.toThrow('"other"');
});

it('an election, a semaphore and a condition refuse options of a lock that they would not follow', async () => {
  expect(() => locks.election('e', { wait: '5s' } as object)).toThrow('"wait"');
  expect(() => locks.semaphore('s', { permits: 1, ttl: '5s' } as never)).toThrow('"ttl"');
  await expect(awaiting({ ttl: '5s' })).rejects.toThrow('"ttl"');
});

it('a body under a lock or a permit is told of an "onLost" that there is not, before it runs', async () => {
  const options = { onLost: 'ignroe' as 'ignore' };
  const refusal = new LockOptionsError("Option \"onLost\" takes 'throw' or 'ignore'.");
  let ran = 0;
  const body = (): number => (ran += 1);
  await expect(locks.withLock('a', options, body)).rejects.toThrow(refusal);
  await expect(semaphore.withPermit(options, body)).rejects.toThrow(refusal);
  expect(ran).toBe(0);
  await expect(semaphore.acquire({ onLost: 'ignore' } as object)).rejects.toThrow('"onLost"'); // it has no body
});

it('a call for permits may say "mode" and "reentrant" as undefined alone', async () => {
  const lease = await semaphore.acquire({ mode: undefined, reentrant: undefined } as object);
  await lease.release();
  for (const options of [{ mode: 'exclusive' }, { reentrant: true }] as object[]) {
    await expect(semaphore.tryAcquire(options)).rejects.toThrow('neither "mode" nor "reentrant"');
  }
  expect(await semaphore.withPermit(undefined as never, work)).toBe(1);
});

it('a Redis whose "cluster" is undefined is no Cluster', () => {
  const redis = { host: 'redis', cluster: undefined, natMap: undefined };
  expect(topologyOf(moduleSettings({ redis: redis as object }))).toBe('redis');
});

/** Takes a lock, and awaits a condition of it. */
function awaiting(options: object): Promise<boolean> {
  return locks.withLock('condition', (lease) =>
    locks.condition(lease, 'ready').await({ wait: 0, ...options }),
  );
}

/** Where options are given, each with what it needs and one more. */
function places(): Record<string, (more: object) => unknown> {
  return {
    'locks.withLock': (more) => locks.withLock('a', more, work),
    'locks.semaphore': (more) => locks.semaphore('s', { permits: 1, ...more }),
    'semaphore.withPermit': (more) => semaphore.withPermit(more, work),
    'locks.election': (more) => locks.election('e', more),
    'election.campaign': async (more) => {
      await using election = locks.election('e');
      await election.campaign(more);
    },
    'condition.await': awaiting,
    'locks.inspect': (more) => locks.inspect('a', more),
    'locks.list': (more) => locks.list('*', more),
    'locks.forceRelease': (more) => locks.forceRelease('a', more),
    'locks.health': (more) => locks.health(more),
    'RedisLockModule.forRoot': (more) => RedisLockModule.forRoot(more),
    limits: (limits) => moduleSettings({ limits }),
    replicas: (more) => moduleSettings({ replicas: { acks: 1, ...more } }),
    dialect: (more) => lockFormat({ name: 'plain', ...more }),
    'LockBoardModule.forRoot': (more) => boardSettings({ open: true, ...more }),
    '@LeaderOnly': (more) => {
      const descriptor = { value: work };
      LeaderOnly('leader', more)(class {}.prototype, 'work', descriptor as never);
    },
    registerLockMetrics: (more) => registerLockMetrics(new Registry(), more)(),
  };
}
