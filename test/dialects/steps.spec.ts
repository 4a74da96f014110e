import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { ForeignLockError, LockNotAcquiredError, LockOptionsError } from '../../lib/index.js';
import { newHolderId } from '../../lib/engine/locks/holder.js';
import type { Answer, Grant } from '../../lib/engine/locks/lock-store.js';
import type { LockRequest } from '../../lib/engine/locks/lock-request.js';
import { speak } from '../../lib/engine/locks/dialects/dialect-lock.js';
import { lockFormat, NATIVE, READER } from '../../lib/engine/options/index.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { LockProcess } from '../support/lock-process.js';
import { until } from '../support/until.js';
import { samples } from './samples.js';

let redis: RedisProcess;
let control: Redis;
beforeAll(async () => {
  redis = await RedisProcess.start();
  control = new Redis(redis.url);
});
afterAll(async () => {
  control.disconnect();
  await redis.stop();
});

describe.each(samples)('the steps of dialect %j', (dialect) => {
  const settings = lockFormat(dialect);
  let us: LockProcess;
  let others: LockProcess;
  /** Of locks of our own, which stand where those of the dialect do. */
  let native: LockProcess;
  let names = 0;
  beforeAll(async () => {
    us = new LockProcess({ redis: redis.url, dialect, keyPrefix: 'native:' });
    others = new LockProcess({ redis: redis.url, dialect });
    native = new LockProcess({ redis: redis.url, keyPrefix: settings.prefix });
    await Promise.all([us, others, native].map(({ locks }) => locks.open()));
  });
  afterAll(() => Promise.all([us, others, native].map((each) => each.close())));

  const keyOf = ({ key }: LockRequest): string => settings.prefix + key + settings.suffix;

  it('have the effect of once when they run twice', async () => {
    const lock = us.store;
    const mine = request();
    const first = await lock.acquire(asking(mine));
    const again = await lock.acquire(asking(mine));
    expect([first.kind, again.kind]).toEqual(['held', 'held']);
    const { fencingToken, remaining } = first as Grant;
    expect(again).toMatchObject({ fencingToken });
    expect((again as Grant).remaining).toBeLessThanOrEqual(remaining);
    expect(await lock.release(mine, 0)).toBe(true);
    expect(await lock.release(mine, 0)).toBe(false);
    expect(await control.exists(keyOf(mine))).toBe(0);
  });

  it('change nothing that is another’s', async () => {
    const lock = us.store;
    const mine = request();
    const stranger = another(mine);
    await lock.acquire(asking(mine));
    expect((await lock.acquire(asking(stranger))).kind).toBe('busy');
    expect(await lock.release(stranger, 0)).toBe(false);
    expect(await lock.leave(stranger)).toBe(false);
    expect((await lock.extend([stranger, mine])).remaining).toEqual(['taken', expect.any(Number)]);
    expect(await lock.release(mine, 0)).toBe(true);
  });

  it('lengthen and never shorten, and bring nothing back', async () => {
    const lock = us.store;
    const mine = request();
    await lock.acquire(asking(mine));
    const [kept] = (await lock.extend([{ ...mine, ttl: 1_000 }])).remaining;
    expect(kept).toBeGreaterThan(8_000);
    const [longer] = (await lock.extend([{ ...mine, ttl: 60_000 }])).remaining;
    expect(longer).toBeGreaterThan(58_000);
    await lock.release(mine, 0);
    expect((await lock.extend([mine])).remaining).toEqual(['free']);
    expect(await control.exists(keyOf(mine))).toBe(0);
  });

  it('let who comes next have it when a lease is over', async () => {
    const lock = us.store;
    const mine = request(60);
    const over = (await lock.acquire(asking(mine))) as Grant;
    const next = { ...another(mine), ttl: 30_000 };
    let granted: Answer | undefined;
    await until('it is over', async () => {
      granted = await lock.acquire(asking(next));
      return granted.kind === 'held';
    });
    const { fencingToken = 1 } = granted as Grant;
    expect(fencingToken).toBeGreaterThan(over.fencingToken ?? 0);
    expect(await lock.release(mine, 0)).toBe(false);
    expect((await lock.extend([mine])).remaining).toEqual(['taken']);
  });

  /** What the script by which a lock is taken is run with, by hand. */
  function byHand(given: LockRequest, not_after: number): [string, number, ...string[]] {
    const { acquire } = speak(settings, '');
    const { holder, ttl, unit = 's' } = { ...given, unit: settings.unit };
    const operands = { holder, ttl, tokens: 1, not_after, unit, lasting: 0, fenced: 0 };
    const keys = acquire.keys.map((name) =>
      name === 'lock' ? keyOf(given) : `${given.key}:${name}`,
    );
    const args = acquire.argList({ ...operands, mode: 'write' });
    return [acquire.source, keys.length, ...keys, ...args.map(String)];
  }

  it('refuse what comes too late', async () => {
    const mine = request();
    const run = byHand(mine, 1);
    expect(((await control.eval(...run)) as unknown[])[0]).toBe('late');
    expect(await control.exists(...run.slice(2, 2 + run[1]).map(String))).toBe(0);
  });

  it('know a lock in the last millisecond of its lease, too', async () => {
    const mine = request(60);
    await us.store.acquire(asking(mine));
    const run = byHand(another(mine), Number.MAX_SAFE_INTEGER);
    const kinds = new Set<unknown>();
    // So many in a row that each millisecond is met: in the last one Redis says that none is left.
    while (!kinds.has('held')) {
      const row = control.pipeline();
      for (let nth = 0; nth < 1_000; nth += 1) row.eval(...run);
      for (const [error, reply] of (await row.exec())!) {
        kinds.add(error?.message ?? (reply as unknown[])[0]);
      }
    }
    kinds.delete('busy'); // before
    expect([...kinds]).toEqual(['held']);
  });

  it('name what else stands at the name, and leave it', async () => {
    const lock = us.store;
    const mine = request();
    await control.rpush(keyOf(mine), 'item');
    await expect(lock.acquire(asking(mine))).rejects.toThrow(ForeignLockError);
    expect(await lock.release(mine, 0)).toBe(false);
    await expect(lock.force(mine.key, settings)).rejects.toThrow(ForeignLockError);
    expect(await control.llen(keyOf(mine))).toBe(1);
  });

  it('are seen and ended by an operator', async () => {
    const lock = us.store;
    const mine = request();
    expect((await lock.inspect(mine.key, 0, settings)).type).toBe('none');
    expect(await lock.force(mine.key, settings)).toBe(false);
    await lock.acquire(asking(mine));
    expect(await lock.inspect(mine.key, 0, settings)).toMatchObject({ foreign: true });
    expect(await lock.force(mine.key, settings)).toBe(true);
    expect((await lock.extend([mine])).remaining).toEqual(['free']);
  });

  it('are ended by an operator who names what was seen only as long as that stands there', async () => {
    const lock = us.store;
    const mine = request();
    const next = another(mine);
    const sight = async () => (await lock.inspect(mine.key, 0, settings)).sight;
    await lock.acquire(asking(mine));
    const seen = await sight();
    await lock.release(mine, 0);
    expect(await lock.force(mine.key, settings, seen)).toBe(false);
    await lock.acquire(asking(next));
    expect(await lock.force(mine.key, settings, seen)).toBe('another');
    expect((await lock.extend([next])).remaining).toEqual([expect.any(Number)]);
    expect(await lock.force(mine.key, settings, await sight())).toBe(true);
    expect(await sight()).toBeUndefined();
  });

  const naming = {
    async 'tell our process when an operator takes its lock'() {
      const { processId } = us.store;
      const [inbox, heard] = [control.duplicate(), [] as string[]];
      inbox.on('message', (_channel, text) => void heard.push(text));
      await inbox.subscribe(`native:inbox:${processId}`);
      const mine = request();
      await us.store.acquire(asking(mine));
      expect(await us.store.force(mine.key, settings)).toBe(true);
      await until('it is heard', () => heard.length > 0);
      inbox.disconnect();
      expect(heard).toEqual([`forced ${mine.holder}`]);
    },
  };
  const ending = {
    async 'leave one key that counts the tokens of all, and nothing of a lock that was given back'() {
      const fence = `${settings.prefix}{}:fence`;
      await control.del(fence);
      const before = new Set(await control.keys('*'));
      for (const mine of [request(), request()]) {
        await us.store.acquire(asking(mine));
        await us.store.extend([{ ...mine, ttl: 60_000 }]);
        expect(await us.store.release(mine, 0)).toBe(true);
      }
      const left = (await control.keys('*')).filter((key) => !before.has(key));
      const own = (key: string): boolean => /^redisson_lock_token:|^lock-signal:/.test(key); // what the other side leaves, too
      expect(left.filter((key) => !own(key))).toEqual(
        settings.fencing && settings.kind !== 'fenced' ? [fence] : [],
      );
    },
    async 'leave no key without an end'() {
      const mine = request();
      const before = new Set(await control.keys('*'));
      await us.store.acquire(asking(mine));
      const made = (await control.keys('*')).filter((key) => !before.has(key));
      expect(made.length).toBeGreaterThan(0);
      const counter = (key: string): boolean => key.startsWith('redisson_lock_token:'); // Redisson’s own never ends
      for (const key of made.filter((name) => !counter(name)))
        expect(await control.pttl(key)).toBeGreaterThan(0);
    },
  };
  const keeping = {
    async 'stay taken for a minimum hold'() {
      const lock = us.store;
      const mine = request();
      await lock.acquire(asking(mine));
      expect(await lock.release(mine, 60_000)).toBe(true);
      const next = another(mine);
      expect((await lock.acquire(asking(next))).kind).toBe('busy');
      expect((await lock.extend([mine])).remaining).toEqual(['taken']);
      const brief = request();
      await lock.acquire(asking(brief));
      expect(await lock.release(brief, 60)).toBe(true);
      const late = another(brief);
      await until('it is over', async () => (await lock.acquire(asking(late))).kind === 'held');
    },
  };
  const tokens = {
    async 'mint tokens that grow'() {
      const { key } = request();
      const [first, second] = [await us.acquire(key), others.acquire(key)];
      await first.release();
      const last = await second;
      expect(last.fencingToken).toBeGreaterThan(first.fencingToken);
      await last.release();
    },
    async 'are followed, when the holder crashed, by greater tokens of whoever comes next'() {
      const ours = { format: NATIVE };
      for (const next of [
        { ...ours, share: READER },
        { ...ours, share: { permits: 2, count: 1 } },
        ours,
        ...(settings.shared ? [{ share: READER }] : []),
      ]) {
        const mine = request();
        const { fencingToken } = (await us.store.acquire(asking(mine))) as Grant;
        await control.del(keyOf(mine)); // as at the end of its lease
        const { store } = 'format' in next ? native : others;
        const key = 'format' in next ? mine.key + settings.suffix : mine.key;
        const asked = { ...another(mine), key, ...next };
        const granted = (await store.acquire(asking(asked))) as Grant;
        expect(granted).toMatchObject({ kind: 'held' });
        expect([next, granted.fencingToken! > fencingToken!]).toEqual([next, true]);
        expect(await store.release(asked, 0)).toBe(true);
      }
    },
    async 'end the version of what they guard, also when the holder crashed'() {
      const mine = request();
      const name = mine.key + settings.suffix;
      const before = await native.store.stamp(name);
      const { fencingToken } = (await us.store.acquire(asking(mine))) as Grant;
      await control.del(keyOf(mine)); // as at the end of its lease
      const after = (await native.store.stamp(name))!;
      expect(after).not.toBe(before);
      expect(after).toBeGreaterThan(fencingToken!);
      expect(await native.store.stamp(name)).toBe(after);
    },
  };
  const noTokens = {
    async 'say that they have no tokens'() {
      const { key } = request();
      const lease = await us.acquire(key);
      expect(() => lease.fencingToken).toThrow(LockOptionsError);
      expect(() => lease.fencingToken).toThrow('has no fencing tokens');
      await lease.release();
    },
  };
  const able = {
    ...(settings.timestampCompat ? {} : naming), // a number there names nobody
    ...(settings.lasting ? {} : ending),
    ...(settings.minHold ? keeping : {}),
    ...(settings.fencing ? tokens : noTokens),
  };

  it.each(Object.entries(able))('%s', (_sentence, check) => check());

  it('are re-entered inside a section, and not by our own lock of that name', async () => {
    const { key } = request();
    const lease = await us.acquire(key);
    await lease.run(async () => {
      const again = await us.acquire(key, { wait: 0 });
      expect(again.held).toBe(true);
      await again.release();
      const native = await us.acquire(key, { wait: 0, dialect: 'native' });
      expect(await control.exists(`native:${key}`)).toBe(1);
      await native.release();
    });
    await expect(others.acquire(key, { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
    expect(await lease.release()).toBe(true);
  });

  it('wait for each other in one process, and leave nothing behind when they give up', async () => {
    const { key } = request();
    const first = await us.acquire(key);
    const waits = [1, 2, 3].map(() => us.acquire(key).then((lease) => lease.release()));
    const abort = new AbortController();
    const aborted = us.acquire(key, { signal: abort.signal }).catch((error: unknown) => error);
    await until('all wait', () => us.locks.load.waiting === 4);
    abort.abort(new Error('enough'));
    expect(await aborted).toMatchObject({ message: 'enough' });
    await first.release();
    expect(await Promise.all(waits)).toEqual([true, true, true]);
    await until('nothing is left', () => us.idle);
  });

  it('know no conditions and no downgrade', async () => {
    const { key } = request();
    const lease = await us.acquire(key);
    await expect(lease.downgrade()).rejects.toThrow(LockOptionsError);
    expect(lease.held).toBe(true);
    await lease.release();
  });

  function request(ttl = 30_000): LockRequest {
    names += 1;
    const holder = newHolderId(us.store.processId);
    const tokenBlock = settings.fencing ? 1 : 0;
    return {
      key: `steps:${samples.indexOf(dialect)}:${names}`,
      holder,
      ttl,
      tokenBlock,
      format: settings,
    };
  }

  function asking(given: LockRequest, queue = false): LockRequest {
    return { ...given, queue, wanted: () => true };
  }

  function another(given: LockRequest): LockRequest {
    return { ...given, holder: newHolderId(others.store.processId) };
  }
});
