import { describe, expect, it } from '@jest/globals';
import { LeaseLostError, LockOptionsError, LockService } from '../../lib/index.js';
import { lockFormat, type LockDialect } from '../../lib/engine/options/index.js';
import { memoryLockService } from '../../lib/memory/testing/index.js';
import type { LockProcess } from '../support/lock-process.js';
import { samples } from './samples.js';
import { Sides } from './sides.js';

const sides = new Sides();
const me = { pid: process.pid };

/** A process whose own locks are native. */
function start(): [LockService, LockProcess] {
  const client = sides.client({ keyPrefix: 'native:' });
  return [new LockService(client.locks, client.settings), client];
}

/** Whether a lock that is held alone says whose it is. */
function namesHolder(dialect: LockDialect): boolean {
  return lockFormat(dialect).timestampCompat !== true;
}

describe.each(samples)('a lock that was taken with the call’s dialect %j', (dialect) => {
  const { fencing, kind } = lockFormat(dialect);

  it('is seen, listed and taken away by who says the dialect', async () => {
    const [locks] = start();
    const lease = await locks.acquire('k', { dialect, ttl: '20s' });
    expect((await locks.inspect('k')).state).toBe('free');
    const seen = await locks.inspect('k', { dialect });
    const token = fencing && kind !== 'fenced' ? lease.fencingToken : undefined;
    expect(seen).toMatchObject({ state: 'held', ...(token && { lastFencingToken: token }) });
    expect(seen.fencingToken).toBe(namesHolder(dialect) ? token : undefined);
    expect(seen.remaining).toBeGreaterThan(15_000);
    // A time in whole seconds is rounded up.
    expect(seen.remaining === Infinity || seen.remaining! < 21_000).toBe(true);
    expect(seen.holder !== undefined).toBe(namesHolder(dialect));
    expect(seen.holder ?? me).toMatchObject(me);
    const listed = await locks.list('k*', { dialect });
    const later = seen.holder && { ...seen.holder, heldFor: listed[0]?.holder?.heldFor };
    expect(listed.map(({ key, state, holder }) => [key, state, holder])).toEqual([
      ['k', 'held', later],
    ]);
    expect(await locks.forceRelease('k')).toBe(false);
    expect(lease.held).toBe(true);
    expect(await locks.forceRelease('k', { dialect })).toBe(true);
    expect(await locks.forceRelease('k', { dialect })).toBe(false);
    expect(await locks.list('k*', { dialect })).toEqual([]);
    expect((await locks.inspect('k', { dialect })).state).toBe('free');
    await expect(lease.extend()).rejects.toThrow(LeaseLostError);
  });

  it('is seen and taken away in memory too', async () => {
    const locks = memoryLockService({ keyPrefix: 'native:' });
    const lease = await locks.acquire('k', { dialect });
    expect((await locks.inspect('k')).state).toBe('free');
    const seen = await locks.inspect('k', { dialect });
    expect(seen).toMatchObject({ state: 'held', ...(namesHolder(dialect) && { holder: me }) });
    expect((await locks.list('k*', { dialect })).map(({ key }) => key)).toEqual(['k']);
    expect(await locks.list()).toEqual([]);
    expect(await locks.forceRelease('k')).toBe(false);
    expect(await locks.forceRelease('k', { dialect })).toBe(true);
    await expect(lease.extend()).rejects.toThrow(LeaseLostError);
  });
});

describe.each(samples.filter((dialect) => lockFormat(dialect).shared))(
  'a lock that is read in dialect %j',
  (dialect) => {
    it('names all its readers', async () => {
      const [locks] = start();
      const first = await locks.acquire('k', { dialect, mode: 'shared', ttl: '20s' });
      const second = await locks.acquire('k', { dialect, mode: 'shared', ttl: '60s' });
      const seen = await locks.inspect('k', { dialect });
      expect(seen).toMatchObject({ state: 'held', mode: 'shared', holders: [me, me] });
      const left = seen.holders!.map(({ remaining }) => Math.ceil(remaining / 20_000));
      expect(left.sort((a, b) => a - b)).toEqual([1, 3]);
      expect(await first.release()).toBe(true);
      expect((await locks.inspect('k', { dialect })).holders).toHaveLength(1);
      expect(await second.release()).toBe(true);
    });
  },
);

describe('a lock of another service', () => {
  it.each([
    ['redisson', (key: string) => sides.theirs.hset(key, 'a-thread-of-java:7', 1)],
    ['timestamp', (key: string) => sides.theirs.set(key, Math.ceil(Date.now() / 1_000) + 60)],
    ['redis-py', (key: string) => sides.theirs.set(key, 'somebody', 'PX', 60_000)],
  ] as const)('is seen to be held, and by none of ours, in %s', async (dialect, write) => {
    const [locks] = start();
    await write('theirs');
    const seen = await locks.inspect('theirs', { dialect });
    expect(seen).toMatchObject({ state: 'held' });
    expect(seen.holder).toBeUndefined();
    expect(seen.holders).toBeUndefined();
  });

  it('whose time is past is free', async () => {
    const [locks] = start();
    await sides.theirs.set('theirs', 1_600_000_000);
    expect((await locks.inspect('theirs', { dialect: 'timestamp' })).state).toBe('free');
    expect(await locks.forceRelease('theirs', { dialect: 'timestamp' })).toBe(false);
    expect(await sides.theirs.exists('theirs')).toBe(1);
  });
});

it.each<LockDialect>(['plain', 'redlock', { name: 'plain', guard: 'timestamp' }, 'timestamp'])(
  'what has no prefix in dialect %j is listed by a pattern of its keys alone: any string may look like a lock',
  async (dialect) => {
    const [locks] = start();
    await sides.theirs.set('session:1', 'of a user', 'PX', 60_000);
    for (const pattern of ['*', '**']) {
      const listed = locks.list(pattern, { dialect });
      await expect(listed).rejects.toThrow(LockOptionsError);
      await expect(listed).rejects.toThrow('give it a "prefix", or a pattern');
    }
    await locks.acquire('job:1', { dialect });
    expect((await locks.list('job:*', { dialect })).map(({ key }) => key)).toEqual(['job:1']);
    const name = typeof dialect === 'string' ? dialect : dialect.name;
    const behind = { dialect: { name, prefix: 'job:' } as LockDialect };
    expect((await locks.list('*', behind)).map(({ key }) => key)).toEqual(['1']);
  },
);

it('an operator who misspells the option is told', async () => {
  const [locks] = start();
  const wrong = { dialekt: 'redlock' } as never;
  for (const asked of [locks.inspect('k', wrong), locks.forceRelease('k', wrong)]) {
    await expect(asked).rejects.toThrow(LockOptionsError);
  }
  await expect(locks.list('*', wrong)).rejects.toThrow('There is no option "dialekt" here.');
});
