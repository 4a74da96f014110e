import { describe, expect, it } from '@jest/globals';
import { type AcquireOptions, LeaseLostError, LockNotAcquiredError } from '../../lib/index.js';
import type { Lease } from '../../lib/engine/client/leases/lease.js';
import { scripts } from '../../lib/engine/locks/dialects/plain/plain.js';
import { until } from '../support/until.js';
import { Crowd } from './crowd.js';
import { textbookInPython } from './peers/index.js';
import { textbook } from './peers/textbook.js';
import { Sides } from './sides.js';

const dialect = { name: 'plain', guard: 'timestamp' } as const;
const python = textbookInPython.missing === undefined ? [textbookInPython] : [];

const sides = new Sides();

describe('a plain lock with a guard', () => {
  it.each([textbook('s', 'commands'), textbook('ms', 'commands'), ...python])(
    'is not stolen by $name',
    async (peer) => {
      sides.start(dialect);
      const them = await sides.peer(peer);
      const lease = await sides.us.acquire('k_lock', { minHold: 60_000 });
      expect(await them.acquire('k', 5_000)).toBe(false);
      await lease.extend();
      expect(await lease.release()).toBe(true);
      expect(await them.acquire('k', 5_000)).toBe(false);
      await sides.theirs.del('k_lock'); // the minimum hold is over
      const held = await sides.us.acquire('k_lock');
      await held.release();
      expect(await them.acquire('k', 5_000)).toBe(true);
      await expect(sides.us.acquire('k_lock', { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
    },
  );

  it('is to a client that reads any text as a number a time to come', async () => {
    sides.start(dialect);
    await sides.us.acquire('k');
    const value = (await sides.theirs.get('k'))!;
    expect(value).toMatch(/^\d+$/);
    for (const read of [Number, Number.parseFloat, (text: string) => Number.parseInt(text, 10)]) {
      expect(read(value)).toBeGreaterThan(Date.now() * 1_000);
    }
    // Java, Go and C refuse what is no 64-bit integer; a client in seconds may count it in ms.
    expect(BigInt(value) * 1_000n).toBeLessThan(2n ** 63n);
    expect(Number.isSafeInteger(Number(value))).toBe(true);
  });

  it.each([
    ['in seconds', () => String(Math.floor(Date.now() / 1_000) - 2)],
    ['in ms', () => String(Date.now() - 2_000)],
    ['with a fraction', () => String(Date.now() / 1_000 - 2)],
  ])('takes over what was left behind and is past, %s', async (_unit, value) => {
    sides.start(dialect);
    await sides.theirs.set('k', value());
    const lease = await sides.us.acquire('k', { wait: 0 });
    expect(lease.fencingToken).toBeGreaterThan(0);
    expect(await sides.theirs.pttl('k')).toBeGreaterThan(0);
  });

  it.each([
    ['a time to come', () => String(Math.floor(Date.now() / 1_000) + 60)],
    ['a time to come in ms', () => String(Date.now() + 60_000)],
    ['no time', () => 'somebody'],
    ['an id that begins with a digit', () => '1600000000-9c1f'],
    ['a flag', () => '1'],
    ['a number that in ms would be 1974', () => '150000000000'],
    ['a number that in ms would be before September 2001', () => '999999999999'],
  ])('does not take over %s', async (_what, value) => {
    sides.start(dialect);
    await sides.theirs.set('k', value());
    await expect(sides.us.acquire('k', { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
  });

  it('takes a time in whole seconds over when its second is over, not before', async () => {
    const us = sides.start(dialect);
    const [asked] = await sides.withinASecond(async (second) => {
      await sides.theirs.set('k', second);
      return Promise.allSettled([us.acquire('k', { wait: 0 })]);
    });
    expect(asked.status).toBe('rejected');
    expect((await us.acquire('k', { wait: 60_000 })).held).toBe(true);
  });

  it('does not take over a value that has a time to live', async () => {
    sides.start(dialect);
    await sides.theirs.set('k', '1600000000', 'PX', 60_000);
    await expect(sides.us.acquire('k', { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
  });

  const inSeconds = (seconds: number): string => String(Math.floor(Date.now() / 1_000) + seconds);

  it('is written once more where another client took over and gave back, and its loser wrote over ours', async () => {
    sides.start(dialect);
    const lease = await sides.us.acquire('k', { ttl: 30_000 });
    const ours = await sides.theirs.getset('k', inSeconds(2));
    await until('ours stands again', async () => (await sides.theirs.get('k')) === ours);
    expect(lease.held).toBe(true);
    expect(await lease.release()).toBe(true);
    expect(await sides.theirs.exists('k', '{k}:grant')).toBe(0);
  });

  it('that an operator took away is not written over who has it then', async () => {
    sides.start(dialect);
    const lease = await sides.us.acquire('k', { ttl: 30_000 });
    expect(await sides.us.force('k')).toBe(true);
    const third = inSeconds(60);
    expect(await sides.theirs.setnx('k', third)).toBe(1);
    await expect(lease.extend()).rejects.toThrow(LeaseLostError);
    await until('nothing is under way', () => sides.us.idle);
    expect(await sides.theirs.get('k')).toBe(third);
  });

  describe('that took over what was past', () => {
    /** We take over what was left behind, and a client that had seen it too writes over ours. */
    async function overwritten(options: AcquireOptions = {}): Promise<[Lease, string]> {
      sides.start(dialect);
      await sides.theirs.set('k', inSeconds(-5));
      const lease = await sides.us.acquire('k', { ttl: 30_000, ...options });
      const ours = (await sides.theirs.get('k'))!;
      expect(await sides.theirs.getset('k', inSeconds(2))).toBe(ours);
      return [lease, ours];
    }

    it.each([
      [{}, 30_000],
      [{ renew: false }, 29_950], // not a new lease: what is left of it
    ])('is written once more, with %j', async (options, most) => {
      const [lease, ours] = await overwritten(options);
      await until('ours stands again', async () => (await sides.theirs.get('k')) === ours);
      const left = await sides.theirs.pttl('k');
      expect(left).toBeGreaterThan(20_000);
      expect(left).toBeLessThanOrEqual(most);
      expect(lease.held).toBe(true);
      expect(await lease.release()).toBe(true);
      expect(await sides.theirs.exists('k', '{k}:grant')).toBe(0);
    });

    it('is written once more for as long as it was extended to', async () => {
      sides.start(dialect);
      const lease = await sides.us.acquire('k', { ttl: 30_000 });
      await sides.theirs.pexpire('{k}:grant', 30_000); // the first second is long on a busy machine
      await lease.extend(120_000);
      const ours = await sides.theirs.getset('k', inSeconds(60));
      await lease.extend();
      expect(await sides.theirs.get('k')).toBe(ours);
      expect(await sides.theirs.pttl('k')).toBeGreaterThan(60_000);
      expect(lease.expiresAt).toBeGreaterThan(Date.now() + 60_000);
    });

    it('is given back also before that', async () => {
      const [lease] = await overwritten();
      expect(await lease.release()).toBe(true);
      expect(await sides.theirs.exists('k', '{k}:grant')).toBe(0);
    });

    it('is a third client’s when the take-over is long over', async () => {
      const [lease, ours] = await overwritten();
      await until('ours stands again', async () => (await sides.theirs.get('k')) === ours);
      await until('the second is over', async () => !(await sides.theirs.exists('{k}:grant')));
      const third = inSeconds(60);
      await sides.theirs.set('k', third);
      await expect(lease.extend()).rejects.toThrow(LeaseLostError);
      await until('nothing is under way', () => sides.us.idle);
      expect(await lease.release()).toBe(false);
      expect(await sides.theirs.get('k')).toBe(third);
    });
  });

  it('is a third client’s when the lease was over sooner than the take-over', async () => {
    const keys: Record<string, string> = {
      lock: 'k',
      grant: '{k}:grant',
      fence: '{}:fence',
      version: '{k}:version',
    };
    const step = (name: 'acquire' | 'extend' | 'release'): Promise<unknown> => {
      const script = scripts[name];
      const not_after = Number.MAX_SAFE_INTEGER;
      const operands = {
        holder: '99999999999999001',
        ttl: 50,
        tokens: 0,
        not_after,
        timestamp_compat: 1,
      };
      const list = script.keys.map((key) => keys[key]!);
      return sides.theirs.eval(script.source, list.length, ...list, ...script.argList(operands));
    };
    await sides.theirs.set('k', '1600000000');
    expect(await step('acquire')).toMatchObject({ 0: 'held', 4: 1 });
    await until('it is over', async () => !(await sides.theirs.exists('k')));
    const third = String(Math.floor(Date.now() / 1_000) + 60);
    expect(await sides.theirs.setnx('k', third)).toBe(1);
    expect([await step('extend'), await step('release')]).toEqual([-3, 0]);
    expect(await sides.theirs.get('k')).toBe(third);
  });

  it('without which nothing is taken over', async () => {
    sides.start('plain');
    await sides.theirs.set('k', '1600000000');
    await expect(sides.us.acquire('k', { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
  });
});

(python.length > 0 ? describe : describe.skip)(
  'three clients of the articles and three of ours',
  () => {
    it('never hold a guarded lock at the same time, also when two of theirs are killed while holding it', async () => {
      const ours = [1, 2, 3].map(() => sides.client({ dialect: { ...dialect, suffix: '_lock' } }));
      const theirs = await Promise.all([1, 2, 3].map(() => sides.peer(textbookInPython)));
      const crowd = new Crowd(sides.theirs, process.env['FULL'] ? 20_000 : 4_000, { lease: 600 });
      await Promise.all([
        ...ours.map((client) => crowd.ours(client, 'crowd')),
        ...theirs.slice(0, 1).map((client) => crowd.theirs(client, 'crowd')),
        ...theirs.slice(1).map((client) => crowd.killed(client, 'crowd')),
      ]);
      await crowd.check();
      expect(crowd.killings).toBe(2);
    });
  },
);
