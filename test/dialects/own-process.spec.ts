import { describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import type { LockStore } from '../../lib/engine/locks/lock-store.js';
import { later } from '../support/later.js';
import { until } from '../support/until.js';
import { withSteps } from '../support/world.js';
import { EndlessPauses, patientClock } from './endless-pauses.js';
import { had, Sides } from './sides.js';

const sides = new Sides();

describe('who waits for a plain lock that its own process holds', () => {
  it.each(['release', 'force'] as const)('is told of its %s', async (end) => {
    const clock = new EndlessPauses(50);
    const us = sides.client({ dialect: 'plain' }, { clock });
    const lease = await us.acquire('k');
    const next = later(us.acquire('k'));
    await until('it sleeps', () => clock.asleep > 0);
    if (end === 'release') await lease.release();
    else await us.force('k');
    await (await had(next)).release();
  });
});

it('callers of one process are each granted a plain lock by Redis, so that the other side has its turns', async () => {
  // Without tokens: where each needs one, the lock could not go on in memory anyway.
  const us = sides.client({ dialect: 'plain', fairness: 'local', fencing: false });
  const holders: (string | null)[] = [];
  const section = async (): Promise<void> => {
    const lease = await us.acquire('k');
    holders.push(await sides.theirs.get('k'));
    await lease.release();
  };
  await Promise.all([section(), section(), section()]);
  expect(new Set(holders).size).toBe(3);
});

describe('one Redis key whose prefix is said in two ways', () => {
  const split = { dialect: { name: 'plain', prefix: 'a:' } } as const;

  it('is one lock: who waits for it under one name is told of its release under the other', async () => {
    const clock = new EndlessPauses(50);
    const us = sides.client({ dialect: 'plain' }, { clock });
    const lease = await us.acquire('a:b');
    const next = later(us.acquire('b', split));
    await until('it sleeps', () => clock.asleep > 0);
    await lease.release();
    expect((await had(next)).key).toBe('b');
  });

  it('is re-entered under either name', async () => {
    const us = sides.start('plain');
    const lease = await us.acquire('a:b');
    await lease.run(async () => {
      const again = await us.acquire('b', { ...split, wait: 0 });
      expect(await again.release()).toBe(true);
    });
    expect(await lease.release()).toBe(true);
  });
});

describe('many readers of one process', () => {
  it('do not all ask when the first of them gives up while it asks', async () => {
    const dialect = 'symfony';
    const writer = sides.start(dialect);
    const asked: string[] = [];
    let firstAsks = (): void => {};
    const wrap = (store: LockStore): LockStore =>
      withSteps(store, {
        acquire: (ask) => {
          asked.push(ask.holder);
          if (ask.holder === asked[0]) firstAsks();
          return store.acquire(ask);
        },
      });
    const readers = sides.client({ dialect }, { wrap });
    await writer.acquire('k');
    const abort = new AbortController();
    const { signal } = abort;
    const first = readers.acquire('k', { mode: 'shared', signal }).catch((error: unknown) => error);
    await until('it asks for all', () => asked.length > 1);
    const others = Array.from({ length: 20 }, () => readers.acquire('k', { mode: 'shared' }));
    const turnedAway = Promise.allSettled(others);
    await until('each has asked', () => new Set(asked).size === 21);
    await readers.inspect('k'); // each is answered
    let before = Infinity;
    firstAsks = () => {
      before = asked.length;
      abort.abort(new Error('enough'));
    };
    expect(await first).toMatchObject({ message: 'enough' });
    await until('another asks for all', () => asked.length > before + 1);
    expect(new Set(asked.slice(before)).size).toBe(1);
    readers.locks.stopWaiting();
    await turnedAway;
  });
});

describe('readers of one process who wait for a writer elsewhere', () => {
  it.each(['symfony', { name: 'redisson', kind: 'readWrite' }] as const)(
    'come in together, in dialect %j',
    async (dialect) => {
      const writer = sides.start(dialect);
      const readers = sides.client({ dialect }, { clock: patientClock });
      const written = await writer.acquire('k');
      let reading = 0;
      const all = [1, 2, 3, 4].map(async () => {
        const lease = await readers.acquire('k', { mode: 'shared' });
        reading += 1;
        return lease;
      });
      await readers.waiting('k', 4);
      await written.release();
      await until('all read', () => reading === 4);
      for (const lease of await Promise.all(all)) expect(await lease.release()).toBe(true);
    },
  );

  it.each([
    [
      'symfony' as const,
      (theirs: Redis) =>
        theirs
          .multi()
          .del('k')
          .zadd('k', Date.now() + 60_000, 'theirs'),
    ],
    [
      { name: 'redisson', kind: 'readWrite' } as const,
      (theirs: Redis) =>
        theirs
          .multi()
          .del('k')
          .hset('k', 'mode', 'read', 'theirs:2', 1)
          .set('{k}:theirs:2:rwlock_timeout:1', '1', 'PX', 60_000)
          .publish('redisson_rwlock:{k}', '1'),
    ],
  ])(
    'come in beside its readers, although a writer of the process waits before them: dialect %j',
    async (dialect, reads) => {
      const writer = sides.start(dialect);
      const us = sides.client({ dialect }, { clock: patientClock });
      await writer.acquire('k');
      const writing = later(us.acquire('k'));
      await us.waiting('k', 1);
      const readers = [1, 2, 3].map(() => later(us.acquire('k', { mode: 'shared' })));
      await us.waiting('k', 4);
      await reads(sides.theirs).pexpire('k', 60_000).exec();
      const leases = await Promise.all(readers.map((reader) => had(reader)));
      expect(us.locks.load.waiting).toBe(1);
      for (const lease of leases) expect(await lease.release()).toBe(true);
      await sides.theirs.del('k');
      await (await had(writing)).release();
    },
  );
});
