import { describe, expect, it } from '@jest/globals';
import { LeaseLostError, LockNotAcquiredError, type TimestampDialect } from '../../lib/index.js';
import { scripts } from '../../lib/engine/locks/dialects/timestamp/timestamp.js';
import type { Lease } from '../../lib/engine/client/leases/lease.js';
import type { LockProcess } from '../support/lock-process.js';
import { until } from '../support/until.js';
import { Crowd } from './crowd.js';
import { textbookInPython } from './peers/index.js';
import { Sides } from './sides.js';

const sides = new Sides();

const SECOND = { s: 1, ms: 1_000, float: 1 } as const;

const ways = (['s', 'ms', 'float'] as const).flatMap((unit) =>
  (['commands', 'script'] as const).map((protocol) => ({ unit, protocol })),
);

describe.each(ways)('a timestamp lock in $unit by $protocol', ({ unit, protocol }) => {
  const dialect: TimestampDialect = { name: 'timestamp', unit, protocol, suffix: '_lock' };
  /** What an article's client writes now for a lock of so many seconds. */
  const inSeconds = (seconds: number): string => {
    const value = (Date.now() / 1_000 + seconds) * SECOND[unit];
    return unit === 'float' ? String(value) : String(Math.floor(value));
  };

  function start(): LockProcess {
    return sides.start(dialect);
  }

  it('is taken over when it is past, although nobody ever ends it', async () => {
    await sides.theirs.set('k_lock', inSeconds(-5));
    const lease = await start().acquire('k', { wait: 0 });
    expect(Number(await sides.theirs.get('k_lock'))).toBeGreaterThan(Number(inSeconds(20)));
    expect(await lease.release()).toBe(true);
    expect(await sides.theirs.exists('k_lock')).toBe(0);
  });

  it('of ours is ended by Redis, unless the articles’ own commands write it', async () => {
    const isEnded = async (): Promise<boolean> => (await sides.theirs.pttl('k_lock')) > 0;
    const lease = await start().acquire('k', { wait: 0 });
    expect(await isEnded()).toBe(protocol === 'script');
    await lease.extend('2m');
    expect(await isEnded()).toBe(protocol === 'script');
  });

  it('is lost at once to who wrote a time that is past', async () => {
    const lease = await start().acquire('k');
    await sides.theirs.set('k_lock', inSeconds(-5));
    await expect(lease.extend()).rejects.toThrow(LeaseLostError);
  });

  it('never ends earlier by an extension than it was known to', async () => {
    start();
    for (const ttl of [30_000, 30_333, 30_666]) {
      const lease = await sides.us.acquire(`k${ttl}`, { ttl, renew: false });
      const [known, sent] = [lease.expiresAt, Date.now()];
      await lease.extend(100);
      const underWay = Date.now() - sent;
      expect(Number(lease.expiresAt)).toBeGreaterThanOrEqual(Number(known) - underWay - 2);
    }
  });

  it('is respected while it is not past, and taken over then', async () => {
    await sides.theirs.set('k_lock', inSeconds(60));
    await expect(start().acquire('k', { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
    const waiting = sides.us.acquire('k', { wait: 20_000 });
    await sides.us.waiting('k');
    const ends = inSeconds(1.2);
    await sides.theirs.set('k_lock', ends);
    const lease = await waiting;
    expect(Number(inSeconds(0))).toBeGreaterThanOrEqual(Number(ends));
    await lease.release();
  });

  it('is not taken where something else is written', async () => {
    await sides.theirs.set('k_lock', 'a plain lock');
    await expect(start().acquire('k', { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
    expect(await sides.theirs.get('k_lock')).toBe('a plain lock');
  });

  it('is not taken where a token stands that begins with a digit', async () => {
    start();
    for (const [nth, token] of tokens().entries()) {
      await sides.theirs.set(`k${nth}_lock`, token, 'PX', 60_000);
      await sides.theirs.set(`k${nth}-lasting_lock`, token);
      for (const name of [`k${nth}`, `k${nth}-lasting`]) {
        await expect(sides.us.acquire(name, { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
        expect(await sides.theirs.get(`${name}_lock`)).toBe(token);
      }
    }
  });

  it('is not taken where Redis ends what looks like a time', async () => {
    await sides.theirs.set('k_lock', inSeconds(-5), 'PX', 60_000);
    await expect(start().acquire('k', { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
    expect(await sides.theirs.pttl('k_lock')).toBeGreaterThan(0);
  });

  it('is written once more where a client that lost the take-over wrote over it', async () => {
    await sides.theirs.set('k_lock', inSeconds(-5));
    const lease = await start().acquire('k');
    await sides.theirs.getset('k_lock', inSeconds(2));
    await until('ours stands again', async () => {
      return Number(await sides.theirs.get('k_lock')) > Number(inSeconds(20));
    });
    expect(lease.held).toBe(true);
    expect(await lease.release()).toBe(true);
    expect(await sides.theirs.exists('k_lock')).toBe(0);
  });

  it('is written once more where another client took over and gave back, and its loser wrote over ours', async () => {
    const lease = await start().acquire('k', { ttl: 30_000 });
    await sides.theirs.getset('k_lock', inSeconds(2));
    await until('ours stands again', async () => {
      return Number(await sides.theirs.get('k_lock')) > Number(inSeconds(20));
    });
    expect(lease.held).toBe(true);
    expect(await lease.release()).toBe(true);
  });

  it('that an operator took away is not written over who has it then', async () => {
    const lease = await start().acquire('k', { ttl: 30_000 });
    expect(await sides.us.force('k')).toBe(true);
    const third = inSeconds(60);
    expect(await sides.theirs.setnx('k_lock', third)).toBe(1);
    await expect(lease.extend()).rejects.toThrow(LeaseLostError);
    await until('nothing is under way', () => sides.us.idle);
    expect(await sides.theirs.get('k_lock')).toBe(third);
  });

  it('is given back also where such a client has just written over it', async () => {
    await sides.theirs.set('k_lock', inSeconds(-5));
    const lease = await start().acquire('k');
    await sides.theirs.getset('k_lock', inSeconds(2));
    expect(await lease.release()).toBe(true);
    expect(await sides.theirs.exists('k_lock')).toBe(0);
  });

  it.each([
    ['free', undefined],
    ['past', -5],
  ])('that was %s is a third client’s whose time stands there later', async (_how, seconds) => {
    start();
    const losing = async (lose: (lease: Lease) => Promise<unknown>): Promise<void> => {
      if (seconds !== undefined) await sides.theirs.set('k_lock', inSeconds(seconds));
      const lease = await written();
      const third = inSeconds(60);
      await sides.theirs.set('k_lock', third);
      await lose(lease);
      expect(lease.held).toBe(false);
      await until('nothing is under way', () => sides.us.idle);
      expect(await sides.theirs.get('k_lock')).toBe(third);
      await sides.theirs.del('k_lock');
    };
    await losing(async (lease) => expect(await lease.release()).toBe(false));
    await losing((lease) => expect(lease.extend()).rejects.toThrow(LeaseLostError));
  });

  it('stays ours when who lost a take-over has moved its time on', async () => {
    const lease = await start().acquire('k', { ttl: 10_000 });
    await sides.theirs.getset('k_lock', inSeconds(12));
    await lease.extend();
    await sides.theirs.getset('k_lock', inSeconds(10.5));
    await lease.extend();
    await sides.theirs.getset('k_lock', inSeconds(12));
    expect(await lease.release()).toBe(true);
    expect(await sides.theirs.exists('k_lock')).toBe(0);
  });

  it('is lost when somebody’s shorter time-out has made it end too early, a second after we wrote', async () => {
    start();
    const lease = await written();
    await sides.theirs.set('k_lock', inSeconds(4));
    await expect(lease.extend()).rejects.toThrow(LeaseLostError);
    expect(lease.held).toBe(false);
    await until('nothing is under way', () => sides.us.idle);
    expect(await sides.theirs.exists('k_lock')).toBe(1);
  });

  it('is left to who took it over after our own time', async () => {
    const lease = await start().acquire('k', { ttl: 500, renew: false });
    const later = inSeconds(60);
    await until('they take it over', async () => {
      const seen = await sides.theirs.get('k_lock');
      if (seen !== null && Number(seen) >= Number(inSeconds(0))) return false;
      await sides.theirs.getset('k_lock', later);
      return true;
    });
    expect(await lease.release()).toBe(false);
    expect(await sides.theirs.get('k_lock')).toBe(later);
  });

  /** One that we wrote a second ago: no client that lost a take-over is as slow. */
  async function written(): Promise<Lease> {
    const lease = await sides.us.acquire('k', { ttl: 30_000 });
    const { expiresAt } = lease;
    await until('it is written once more', () => lease.expiresAt > expiresAt);
    const grant = (await sides.theirs.get('{k_lock}:grant'))!.split(' ');
    grant[1] = String(Number(grant[1]) - 1_000);
    await sides.theirs.set('{k_lock}:grant', grant.join(' '), 'KEEPTTL');
    return lease;
  }
});

describe.each(['commands', 'script'] as const)('a time in whole seconds, by %s', (protocol) => {
  it('is held until its second is over, as to the articles’ clients, and free then', async () => {
    const us = sides.start({ name: 'timestamp', unit: 's', protocol });
    const found = await sides.withinASecond(async (second) => {
      await sides.theirs.set('k', second);
      const [asked] = await Promise.allSettled([us.acquire('k', { wait: 0 })]);
      if (asked.status === 'fulfilled') return 'it was free';
      const { type } = await us.inspect('k');
      return { type, wasTaken: await us.force('k') };
    });
    expect(found).toEqual({ type: 'string', wasTaken: true });

    const second = await sides.second();
    await sides.theirs.set('k', second);
    const lease = await us.acquire('k', { wait: 60_000 });
    expect(await sides.second()).toBeGreaterThan(second);
    expect(lease.held).toBe(true);
  });
});

it('who waits for a lock that Redis does not end is told when it is past', async () => {
  await sides.theirs.set('k', String(Math.floor(Date.now() / 1_000) + 60));
  const { acquire } = scripts;
  const not_after = Number.MAX_SAFE_INTEGER;
  const operands = { holder: 'us', ttl: 5_000, tokens: 0, not_after, unit: 's', lasting: 0 };
  const args = acquire.argList(operands);
  const reply = await sides.theirs.eval(
    acquire.source,
    4,
    'k',
    '{}:fence',
    '{k}:grant',
    '{k}:version',
    ...args,
  );
  const [kind, left] = reply as [string, number];
  expect([kind, left > 30_000, left <= 61_000]).toEqual(['busy', true, true]);
});

describe('the steps of the articles', () => {
  const lock = { name: 'k', grant: '{k}:grant' };
  const past = '1000';
  const step = async (
    name: 'setnx' | 'getset',
    not_after: number,
    seen?: string,
  ): Promise<unknown> => {
    const script = scripts[name];
    const operands = { holder: 'us', ttl: 5_000, not_after, unit: 's', seen };
    const args = script.argList(operands);
    const reply = await sides.theirs.eval(script.source, 2, lock.name, lock.grant, ...args);
    return (reply as unknown[])[0];
  };
  const now = Number.MAX_SAFE_INTEGER;

  it('take over what they have seen', async () => {
    await sides.theirs.set(lock.name, past);
    expect(await step('getset', now, past)).toBe('held');
    expect(await sides.theirs.exists(lock.grant)).toBe(1);
  });

  it('do not take over what another has taken over meanwhile', async () => {
    await sides.theirs.set(lock.name, past);
    expect(await step('getset', now, '999')).toBe('busy');
    expect(await sides.theirs.exists(lock.grant)).toBe(0);
  });

  it('change nothing when they come too late', async () => {
    await sides.theirs.set(lock.name, past);
    expect(await step('getset', 1, past)).toBe('late');
    expect(await sides.theirs.get(lock.name)).toBe(past);
    await sides.theirs.del(lock.name);
    expect(await step('setnx', 1)).toBe('late');
    expect(await sides.theirs.exists(lock.name)).toBe(0);
  });
});

const together = textbookInPython.missing === undefined ? describe : describe.skip;

together('four clients of the articles and three of ours', () => {
  it.each(['commands', 'script'] as const)(
    'never hold a lock at the same time, also when two are killed while holding it; ours by %s',
    async (protocol) => {
      const dialect = { name: 'timestamp', unit: 'float', protocol, suffix: '_lock' } as const;
      const timeout = 2_500;
      const ours = [1, 2, 3].map(() => sides.client({ dialect }));
      const four = await Promise.all([1, 2, 3, 4].map(() => sides.peer(textbookInPython)));
      const crowd = new Crowd(sides.theirs, process.env['FULL'] ? 20_000 : 2_000, {
        lease: timeout,
      });
      await Promise.all([
        ...ours.map((client) => crowd.ours(client, 'crowd')),
        ...four.slice(0, 2).map((client) => crowd.theirs(client, 'crowd')),
        ...four.slice(2).map((client) => crowd.killed(client, 'crowd')),
      ]);
      await crowd.check();
      expect(crowd.killings).toBe(2);
    },
  );
});

/** What other locks have as values: each begins with a digit, and none is a time. */
function tokens(): string[] {
  return [
    '9f3c1e5b7a2d4c6e8f0a1b2c3d4e5f60', // of redlock 5
    '12345678901234567890123456789012',
    '550e8400-e29b-41d4-a716-446655440000',
    '1',
    '1000',
    '0x10',
    '1e12',
    '1600000000abc',
    '1600000000 ',
    '1600000000.',
    '1600000000.5.5',
    '3f2a9c0d7e1b.7.aBcDeFgHiJk/0123456789abcdefghijkl', // of ours, on a host whose name begins with a digit
    '99999999999999-3f2a9c0d7e1b.7.aBcDeFgHiJk/0123456789abcdefghijkl',
  ];
}
