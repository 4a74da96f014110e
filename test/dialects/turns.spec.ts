import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { newHolderId } from '../../lib/engine/locks/holder.js';
import type { Grant, LockStore } from '../../lib/engine/locks/lock-store.js';
import type { LockRequest } from '../../lib/engine/locks/lock-request.js';
import {
  lockFormat,
  type LockDialect,
  type RedisLockOptions,
} from '../../lib/engine/options/index.js';
import type { LockProcess } from '../support/lock-process.js';
import { until } from '../support/until.js';
import { Sides } from './sides.js';

const sides = new Sides();

/** How many grants both sides get together, and how many callers each side has. */
const [GRANTS, CALLERS] = [300, 4];

/** The formats whose locks stand where native ones do, and the key prefix with which they do. */
const formats: readonly (readonly [LockDialect, string])[] = [
  ['redlock', ''],
  ['redis-semaphore', 'mutex:'],
  [{ name: 'plain', prefix: 'lock:' }, 'lock:'],
  [{ name: 'spring', registry: 'orders' }, 'orders:'],
  ['python-redis-lock', 'lock:'],
];

/** What docs/migration.md promises while some replicas speak a dialect and others have native locks. */
describe.each(formats)(
  'on one hot key, callers in dialect %j and native ones',
  (dialect, keyPrefix) => {
    describe('have a fifth of the grants at least, and tokens grow', () => {
      it.each(cases())(
        '$name, $pause ms apart, in $fairness order',
        async ({ crowd, pause, fairness }) => {
          const grants = { dialect: 0, native: 0 };
          let [holders, token] = [0, 0];
          const turns = async (client: LockProcess, side: keyof typeof grants): Promise<void> => {
            while (grants.dialect + grants.native < GRANTS) {
              const lease = await client.acquire('hot', { wait: '1m' });
              holders += 1;
              expect(holders).toBe(1);
              expect(lease.fencingToken).toBeGreaterThan(token);
              token = lease.fencingToken;
              grants[side] += 1;
              await sleep(Math.random() * 3);
              holders -= 1;
              expect(await lease.release()).toBe(true);
              await sleep(pause);
            }
          };
          const speaking = crowd({ dialect, fairness });
          const natives = crowd({ keyPrefix, fairness });
          await Promise.all([...speaking, ...natives].map((client) => client.locks.open()));
          await Promise.all([
            ...speaking.map((client) => turns(client, 'dialect')),
            ...natives.map((client) => turns(client, 'native')),
          ]);
          expect(Math.min(grants.dialect, grants.native)).toBeGreaterThanOrEqual(GRANTS / 5);
        },
      );
    });

    it('leave nobody in the queue who gave up', async () => {
      const [native, speaking] = [sides.client({ keyPrefix }), sides.client({ dialect })];
      const held = await native.acquire('k');
      const abort = new AbortController();
      const waiting = speaking
        .acquire('k', { signal: abort.signal })
        .catch((error: unknown) => error);
      await until('it queues', async () => (await native.inspect('k')).waiting === 1);
      abort.abort(new Error('enough'));
      expect(await waiting).toMatchObject({ message: 'enough' });
      await until('nobody queues', async () => (await native.inspect('k')).waiting === 0);
      expect(await held.release()).toBe(true);
      expect(await sides.theirs.exists(`${keyPrefix}k`)).toBe(0);
    });

    it('are followed by native readers with a greater token, which all of them share', async () => {
      const [native, speaking] = [sides.client({ keyPrefix }), sides.client({ dialect })];
      const held = await speaking.acquire('k');
      const reading = native.acquire('k', { mode: 'shared', wait: '1m' });
      await until('it queues', async () => (await native.inspect('k')).waiting === 1);
      await held.release();
      const reader = await reading;
      const other = await native.acquire('k', { mode: 'shared' });
      expect(reader.fencingToken).toBeGreaterThan(held.fencingToken);
      expect(other.fencingToken).toBe(reader.fencingToken);
      expect([await reader.release(), await other.release()]).toEqual([true, true]);
    });

    it('do not queue once no native caller holds it: the other side asks for a lock that is free', async () => {
      const [native, speaking] = [sides.client({ keyPrefix }), sides.client({ dialect })];
      let over = false;
      let sections = 0;
      const turns = async (): Promise<void> => {
        while (!over) {
          const lease = await speaking.acquire('k', { wait: '1m' });
          sections += 1;
          await lease.release();
        }
      };
      const held = await native.acquire('k');
      const all = [1, 2, 3, 4].map(turns);
      await until('they queue', async () => (await native.inspect('k')).waiting === 4);
      await held.release();
      await until('each has had it', () => sections >= 8);
      const before = await sides.calls('zadd');
      const then = sections;
      await until('they have it again', () => sections >= then + 20);
      over = true;
      await Promise.all(all);
      expect(await sides.calls('zadd')).toBe(before);
    });
  },
);

describe('who queues in a dialect behind a native holder', () => {
  const format = lockFormat('redis-semaphore');

  function request(store: LockStore): LockRequest {
    const holder = newHolderId(store.processId);
    return { key: 'k', holder, ttl: 30_000, tokenBlock: 1, format, queue: true };
  }

  /** It had queued when the native holder, whose lease was `held`, gave the lock back. */
  async function served() {
    const [native, speaking] = [
      sides.client({ keyPrefix: 'mutex:' }),
      sides.client({ dialect: 'redis-semaphore' }),
    ];
    const held = await native.acquire('k');
    const mine = request(speaking.store);
    await speaking.locks.open();
    expect((await speaking.store.acquire(mine)).kind).toBe('queued');
    await until(
      'it is heard',
      async () => (await sides.listeners(`mutex:inbox:${speaking.store.processId}`)) === 1,
    );
    await held.release();
    return { native, held, mine, speaking };
  }

  it('has one token, however often it asks, and may renew its lease and give it back', async () => {
    const { held, mine, speaking } = await served();
    const [kept] = (await speaking.store.extend([mine])).remaining;
    const first = (await speaking.store.acquire(mine)) as Grant;
    const again = (await speaking.store.acquire(mine)) as Grant;
    expect(kept).toBe(30_000);
    expect(first.fencingToken).toBeGreaterThan(held.fencingToken);
    expect(again).toMatchObject({ kind: 'held', fencingToken: first.fencingToken });
    expect(await speaking.store.release(mine, 0)).toBe(true);
    expect(await sides.theirs.exists('mutex:k')).toBe(0);
  });

  it('is followed, when it has it and crashes, by native readers with a greater token', async () => {
    const { native, mine, speaking } = await served();
    const { fencingToken } = (await speaking.store.acquire(mine)) as Grant;
    await sides.theirs.del('mutex:k'); // as at the end of its lease
    const reader = await native.acquire('k', { mode: 'shared' });
    expect(reader.fencingToken).toBeGreaterThan(fencingToken!);
    await reader.release();
  });

  it('is asked for by another of its process when the word of its grant was lost', async () => {
    const [native, speaking] = [
      sides.client({ keyPrefix: 'mutex:' }),
      sides.client({ dialect: 'redis-semaphore' }),
    ];
    const held = await native.acquire('k');
    await speaking.locks.open();
    const [first, second] = [request(speaking.store), request(speaking.store)];
    expect(await speaking.store.acquire(first)).toMatchObject({ kind: 'queued', requeued: false });
    await speaking.store.acquire(second);
    await until(
      'it is heard',
      async () => (await sides.listeners(`mutex:inbox:${speaking.store.processId}`)) === 1,
    );
    await held.release(); // `first` has it, of which nobody here knows
    const asked = { ...second, enqueuedAt: '1' };
    expect(await speaking.store.acquire(asked)).toMatchObject({ kind: 'queued', requeued: true });
    expect(await speaking.store.release(first, 0)).toBe(true);
    expect((await speaking.store.acquire(asked)).kind).toBe('held');
  });
});

/** Callers of one process, or a process for each; they pause for so many ms, in this order. */
function cases() {
  const crowds = {
    'of one process': (options: RedisLockOptions) =>
      Array.from<LockProcess>({ length: CALLERS }).fill(sides.client(options)),
    'of four processes': (options: RedisLockOptions) =>
      Array.from({ length: CALLERS }, () => sides.client(options)),
  };
  return Object.entries(crowds).flatMap(([name, crowd]) =>
    [10, 40].flatMap((pause) =>
      (process.env['FULL'] ? (['local', 'strict'] as const) : (['local'] as const)).map(
        (fairness) => ({ name, crowd, pause, fairness }),
      ),
    ),
  );
}
