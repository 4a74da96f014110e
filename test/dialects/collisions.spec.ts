import { describe, expect, it } from '@jest/globals';
import { newHolderId } from '../../lib/engine/locks/holder.js';
import type { LockRequest } from '../../lib/engine/locks/lock-request.js';
import { lockFormat } from '../../lib/engine/options/index.js';
import { inspection, listLocks } from '../../lib/engine/inspection/inspection.js';
import { samples } from './samples.js';
import { Sides } from './sides.js';
import { values } from './values-of-others.js';

const sides = new Sides();

it('there are twenty-seven kinds of values', () => {
  expect(Object.keys(values)).toHaveLength(27);
});

describe.each(samples)('where dialect %j meets', (dialect) => {
  const settings = lockFormat(dialect);
  const { family, prefix, suffix } = settings;
  const modes = settings.shared ? ([undefined, 'shared'] as const) : [undefined];
  const typeOf = family === 'symfony' ? 'zset' : family === 'redisson' ? 'hash' : 'string';

  it.each(Object.entries(values))('%s, it leaves it as it is', async (_kind, value) => {
    const us = sides.client({ dialect });
    const key = `${prefix}k${suffix}`;
    const writing = sides.theirs.pipeline();
    value.write(writing, key);
    await writing.exec();
    const seen = async (): Promise<[string | undefined, boolean]> => {
      const [dumped, end] = await Promise.all([
        sides.theirs.dumpBuffer(key) as Promise<Buffer | null>,
        sides.theirs.call('PEXPIRETIME', key).catch(() => sides.theirs.exists(key)),
      ]);
      return [dumped?.toString('hex'), end] as never;
    };
    const before = await seen();
    const isLock = value.lockOf.includes(family);
    const isBusy = isLock || (value.type === 'string' && typeOf === 'string');

    for (const mode of modes) {
      const asked = us.acquire('k', { wait: 0, mode });
      await expect(asked).rejects.toMatchObject({
        code: isBusy ? 'LOCK_NOT_ACQUIRED' : 'FOREIGN_LOCK',
      });
    }
    await us.locks.open();
    const request: LockRequest = {
      key: 'k',
      holder: newHolderId(us.store.processId),
      ttl: 1_000,
      tokenBlock: 0,
      format: settings,
    };
    const lock = us.store;
    expect((await lock.extend([request])).remaining).toEqual(['taken']);
    expect(await lock.release(request, 0)).toBe(false);
    expect(await lock.leave(request)).toBe(false);
    expect(inspection('k', await us.inspect('k')).state).toBe(isLock ? 'held' : 'foreign');
    const listed = await listLocks(us.locks, 'k', { dialect }, us.settings);
    expect(listed.map(({ state }) => state)).toEqual(
      value.type === typeOf ? [isLock ? 'held' : 'foreign'] : [],
    );
    expect(await seen()).toEqual(before);
    const [forced] = await Promise.allSettled([us.force('k')]);
    const refused = { status: 'rejected', reason: { code: 'FOREIGN_LOCK' } };
    const done = { status: 'fulfilled', value: true }; // as an operator wants it: any string may be a token
    expect(forced).toMatchObject(isLock ? done : refused);
    const [after] = await seen();
    expect(after).toBe(isLock ? undefined : before[0]);
  });
});

it('in dialect "redisson" counts that nothing ends are not taken away: each of its locks has an end', async () => {
  const us = sides.client({ dialect: 'redisson' });
  await sides.theirs.hset('k', 'item:7', 3);
  await expect(us.force('k')).rejects.toMatchObject({ code: 'FOREIGN_LOCK' });
  expect(await sides.theirs.hgetall('k')).toEqual({ 'item:7': '3' });
});

it('in our own format any string may be a token, and an operator takes it away', async () => {
  const us = sides.client({ keyPrefix: '' });
  await sides.theirs.set('k', 'somebody');
  await expect(us.acquire('k', { wait: 0 })).rejects.toMatchObject({ code: 'LOCK_NOT_ACQUIRED' });
  expect(await us.force('k')).toBe(true);
  expect(await sides.theirs.exists('k')).toBe(0);
});
