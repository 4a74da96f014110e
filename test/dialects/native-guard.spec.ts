import { describe, expect, it } from '@jest/globals';
import { LeaseLostError, LockNotAcquiredError, LockOptionsError } from '../../lib/index.js';
import type { Lease } from '../../lib/engine/client/leases/lease.js';
import type { SingleLease } from '../../lib/engine/client/leases/single-lease.js';
import { besideTimestamps } from '../../lib/engine/locks/timestamp-compat/timestamp-compat.js';
import { exclusive as scripts } from '../../lib/engine/locks/native-scripts.js';
import { moduleSettings } from '../../lib/engine/options/index.js';
import { Condition } from '../../lib/nest/services/condition.js';
import { inspection } from '../../lib/engine/inspection/inspection.js';
import { LockProcess } from '../support/lock-process.js';
import { later } from '../support/later.js';
import { until } from '../support/until.js';
import { EndlessPauses } from './endless-pauses.js';
import type { PeerClient } from './peers/peer.js';
import { textbook } from './peers/textbook.js';
import { had, PATIENT, Sides } from './sides.js';

const sides = new Sides();

/** We, in our own format, at the names of the articles' clients. */
function start(guard: 'timestamp' | undefined = 'timestamp'): LockProcess {
  return (sides.us = new LockProcess({ redis: sides.redis.url, ...PATIENT, keyPrefix: '', guard }));
}

/** One who reads the beginning of a text as a number, and what is none as 0: as Ruby's `to_f` and PHP's `(float)`. */
function them(unit: 's' | 'ms'): Promise<PeerClient> {
  const read = (value: string): number => Number.parseFloat(value) || 0;
  return sides.peer(textbook(unit, 'commands', read));
}

const kinds = {
  alone: (us: LockProcess, wait: number) => us.acquire('k_lock', { wait }),
  shared: (us: LockProcess, wait: number) => us.acquire('k_lock', { wait, mode: 'shared' }),
  'by permits': (us: LockProcess, wait: number) => {
    const share = { permits: 2, count: 1 };
    return us.locks.acquire('k_lock', { ...us.settings.call, wait, share });
  },
} satisfies Record<string, (us: LockProcess, wait: number) => Promise<Lease>>;

describe.each(Object.entries(kinds))(
  'a lock of our own with a guard, held %s',
  (_kind, acquire) => {
    it.each(['s', 'ms'] as const)(
      'is not stolen by clients of the articles, in %s',
      async (unit) => {
        const peer = await them(unit);
        const lease = await acquire(start(), 0);
        expect(await peer.acquire('k', 5_000)).toBe(false);
        await lease.extend();
        expect(await lease.release()).toBe(true);
        expect(await peer.acquire('k', 5_000)).toBe(true);
        await expect(acquire(sides.us, 0)).rejects.toThrow(LockNotAcquiredError);
      },
    );

    it('takes over what they left and is past', async () => {
      await sides.theirs.set('k_lock', String(Date.now() - 2_000));
      const lease = await acquire(start(), 0);
      expect(lease.held).toBe(true);
      expect(await sides.theirs.pttl('k_lock')).toBeGreaterThan(0);
      expect(await lease.release()).toBe(true);
      expect(await sides.theirs.exists('k_lock')).toBe(0);
    });

    it('takes a time in whole seconds over when its second is over, not before', async () => {
      const us = start();
      const [asked] = await sides.withinASecond(async (second) => {
        await sides.theirs.set('k_lock', second);
        return Promise.allSettled([acquire(us, 0)]);
      });
      expect(asked.status).toBe('rejected');
      expect((await acquire(us, 60_000)).held).toBe(true);
    });

    it('takes it over also when it waits for it', async () => {
      await sides.theirs.set('k_lock', String(Date.now() + 600));
      const [first, second] = await Promise.all(
        [acquire(start(), 10_000), acquire(sides.us, 10_000)].map(async (waiting) => {
          const lease = await waiting;
          expect(Number(await sides.theirs.pttl('k_lock'))).toBeGreaterThan(0);
          return lease.release();
        }),
      );
      expect([first, second]).toEqual([true, true]);
    });

    it('takes it soon when they give it back, of which nobody is told', async () => {
      await sides.theirs.set('k_lock', String(Date.now() + 60_000));
      const clock = new EndlessPauses(100); // the round of a second never comes
      const us = sides.client({ keyPrefix: '', guard: 'timestamp' }, { clock });
      const waiting = later(acquire(us, 60_000));
      await us.waiting('k_lock');
      await sides.theirs.del('k_lock');
      expect((await had(waiting)).held).toBe(true);
    });

    it.each([
      ['a time to come', () => sides.theirs.set('k_lock', String(Date.now() + 60_000))],
      ['what has a time to live', () => sides.theirs.set('k_lock', '1600000000', 'PX', 60_000)],
      ['no time', () => sides.theirs.set('k_lock', 'somebody')],
    ])('does not take over %s', async (_what, write) => {
      await write();
      await expect(acquire(start(), 0)).rejects.toThrow(LockNotAcquiredError);
    });

    it('without it takes nothing over', async () => {
      await sides.theirs.set('k_lock', '1600000000');
      const us = sides.client({ keyPrefix: '' });
      await expect(acquire(us, 0)).rejects.toThrow(LockNotAcquiredError);
    });
  },
);

describe.each(Object.entries(kinds))(
  'a lock of our own that was taken over, held %s, and that a loser wrote over',
  (kind, acquire) => {
    /** Of a lock that several hold, what fits beside none of them. */
    const all = (us: LockProcess, wait: number): Promise<Lease> => {
      const share = kind === 'by permits' ? { permits: 2, count: 2 } : undefined;
      return us.locks.acquire('k_lock', { ...us.settings.call, wait, share });
    };

    /** We take over what was left behind, and a client that had seen it too writes over ours. */
    async function overwritten(wait = 0): Promise<[Lease, string]> {
      await sides.theirs.set('k_lock', String(Date.now() - 5_000));
      const lease = await acquire(start(), wait);
      return [lease, await writeOver()];
    }

    /** A loser's GETSET; what stood there. */
    async function writeOver(): Promise<string> {
      const ours = await sides.theirs.getset('k_lock', String(Date.now() + 60_000));
      expect(ours).toMatch(/^9{14}-/);
      return ours!;
    }

    const stands = (ours: string): Promise<boolean> =>
      until('ours stands again', async () => (await sides.theirs.get('k_lock')) === ours);

    it('is written once more', async () => {
      const [lease, ours] = await overwritten();
      await stands(ours);
      const left = await sides.theirs.pttl('k_lock');
      expect(left).toBeGreaterThan(5_000);
      expect(left).toBeLessThanOrEqual(sides.us.settings.call.ttl);
      expect(lease.held).toBe(true);
      expect(await lease.release()).toBe(true);
      expect(await sides.theirs.exists('k_lock')).toBe(0);
    });

    it('is written once more also where another client took over and gave back, before us', async () => {
      const lease = await acquire(start(), 0);
      await stands(await writeOver());
      expect(lease.held).toBe(true);
      expect(await lease.release()).toBe(true);
      expect(await sides.theirs.exists('k_lock', '{k_lock}:grant')).toBe(0);
    });

    it('is extended, and given back, also before that', async () => {
      const [lease, ours] = await overwritten();
      await lease.extend();
      expect(await sides.theirs.get('k_lock')).toBe(ours);
      await writeOver();
      expect(await lease.release()).toBe(true);
      expect(await sides.theirs.exists('k_lock')).toBe(0);
    });

    it('is written once more for as long as it was extended to', async () => {
      const [lease, ours] = await overwritten();
      await sides.theirs.pexpire('{k_lock}:grant', 30_000); // the first second is long on a busy machine
      await lease.extend(600_000);
      await writeOver();
      await lease.extend();
      expect(await sides.theirs.get('k_lock')).toBe(ours);
      expect(await sides.theirs.pttl('k_lock')).toBeGreaterThan(300_000);
      expect(lease.expiresAt).toBeGreaterThan(Date.now() + 300_000);
    });

    it('goes from one to the next, and is the next one’s', async () => {
      const [lease] = await overwritten();
      const other = sides.client({ keyPrefix: '', guard: 'timestamp' });
      const next = later(all(other, 60_000));
      await until('it waits', async () => (await other.inspect('k_lock')).waiting === 1);
      expect(await lease.release()).toBe(true);
      const lasting = await next;
      const theirs = await writeOver();
      await stands(theirs);
      expect(await lasting.release()).toBe(true);
      expect(await sides.theirs.exists('k_lock')).toBe(0);
    });

    it('is another’s for all who ask', async () => {
      const [lease] = await overwritten();
      const other = sides.client({ keyPrefix: '', guard: 'timestamp' });
      await expect(all(other, 0)).rejects.toThrow(LockNotAcquiredError);
      expect(inspection('k_lock', await other.inspect('k_lock')).state).toBe('held');
      expect(await lease.release()).toBe(true);
    });

    it('was given back when a third client took it: that one’s time stays', async () => {
      await sides.theirs.set('k_lock', String(Date.now() - 5_000));
      const lease = await acquire(start(), 0);
      expect(await lease.release()).toBe(true);
      const third = String(Date.now() + 60_000);
      await sides.theirs.set('k_lock', third);
      await expect(acquire(sides.us, 0)).rejects.toThrow(LockNotAcquiredError);
      await until('nothing is under way', () => sides.us.idle);
      expect(await sides.theirs.get('k_lock')).toBe(third);
    });

    it('that an operator took away is not written over who has it then', async () => {
      const lease = await acquire(start(), 0);
      expect(await sides.us.force('k_lock')).toBe(true);
      const third = String(Date.now() + 60_000);
      expect(await sides.theirs.setnx('k_lock', third)).toBe(1);
      await expect(lease.extend()).rejects.toThrow(LeaseLostError);
      await until('nothing is under way', () => sides.us.idle);
      expect(await sides.theirs.get('k_lock')).toBe(third);
    });

    it('is a third client’s when the take-over is long over, however often others ask', async () => {
      const [lease, ours] = await overwritten();
      await stands(ours);
      const other = sides.client({ keyPrefix: '', guard: 'timestamp' });
      await until('the second is over', async () => {
        await expect(all(other, 0)).rejects.toThrow(LockNotAcquiredError);
        expect(inspection('k_lock', await other.inspect('k_lock')).state).toBe('held');
        return !(await sides.theirs.exists('{k_lock}:grant'));
      });
      const third = String(Date.now() + 60_000);
      await sides.theirs.set('k_lock', third);
      await expect(lease.extend()).rejects.toThrow(LeaseLostError);
      await until('nothing is under way', () => sides.us.idle);
      expect(await sides.theirs.get('k_lock')).toBe(third);
    });
  },
);

describe('a lock of our own with a guard', () => {
  it('is not stolen while it is kept for a minimum hold, and is seen as what it is', async () => {
    const peer = await them('s');
    const us = start();
    const seen = async () => inspection('k_lock', await us.inspect('k_lock'));
    const lease = await us.acquire('k_lock', { minHold: 60_000 });
    expect(await seen()).toMatchObject({ state: 'held', holder: { pid: process.pid } });
    expect((await seen()).holder!.host).not.toMatch(/^9{14}/);
    await lease.release();
    expect((await seen()).state).toBe('kept');
    const version = await us.store.stamp('k_lock');
    expect(version).toBeGreaterThan(lease.fencingToken!);
    expect(await us.store.stamp('k_lock')).toBe(version);
    expect(await peer.acquire('k', 5_000)).toBe(false);
    expect(await sides.theirs.pttl('k_lock')).toBeGreaterThan(0);
    await sides.theirs.del('k_lock'); // the minimum hold is over
    expect((await seen()).state).toBe('free');
  });

  it.each([
    ['is past', -2_000],
    ['soon is', 1_500],
  ])('comes back from a condition behind what they left and %s', async (_when, ms) => {
    const us = start();
    const lease = await us.acquire('k_lock');
    const condition = new Condition(us.locks.conditions, lease as SingleLease, 'changed');
    const woken = condition.await({ wait: 1_000 });
    await until('it awaits', async () => (await us.inspect('k_lock')).awaiting === 1);
    expect(await sides.theirs.set('k_lock', String(Date.now() + ms), 'NX')).toBe('OK');
    expect(await woken).toBe(false);
    expect(await sides.theirs.pttl('k_lock')).toBeGreaterThan(0);
    expect(await lease.release()).toBe(true);
  });

  it('is granted with one number, as one without', async () => {
    const ask = {
      holder: 'us/1',
      ttl: 5_000,
      tokens: 1,
      arrival: undefined,
      former: undefined,
      not_after: Number.MAX_SAFE_INTEGER,
    };
    for (const acquire of [scripts.acquire, besideTimestamps(scripts.acquire)]) {
      const { length } = acquire.keys;
      const keys = acquire.keys.map((name) => `${name}:${length}`);
      const args = acquire.argList({
        ...ask,
        inbox: 'inbox:',
        limit: 1,
        timestamp_compat: undefined,
      });
      const reply = await sides.theirs.eval(acquire.source, keys.length, ...keys, ...args);
      expect(reply).toBe(Number(await sides.theirs.get(`fence:${length}`)));
    }
  });

  it('is handed over under its guard', async () => {
    const peer = await them('s');
    const lease = await start().acquire('k_lock');
    const text = await lease.handOver();
    expect(await peer.acquire('k', 5_000)).toBe(false);
    expect(await (await sides.us.restore(text)).release()).toBe(true);
  });

  it('that was taken over by who waited, and passed on here, is written once more', async () => {
    await sides.theirs.set('k_lock', String(Date.now() + 600));
    start();
    const [first, second] = [1, 2].map(() => sides.us.acquire('k_lock', { wait: 60_000 }));
    await (await first!).release();
    const lease = await second!;
    const ours = await sides.theirs.getset('k_lock', String(Date.now() + 60_000));
    expect(ours).toMatch(/^9{14}-/);
    await until('ours stands again', async () => (await sides.theirs.get('k_lock')) === ours);
    expect(await lease.release()).toBe(true);
  });

  it('that was taken over is handed over, shared and signalled beneath a loser’s time', async () => {
    await sides.theirs.set('k_lock', '1600000000');
    const lease = await start().acquire('k_lock');
    const loses = () => sides.theirs.set('k_lock', String(Date.now() + 60_000));
    await loses();
    const condition = new Condition(sides.us.locks.conditions, lease as SingleLease, 'changed');
    expect(await condition.signal()).toBe(false);
    await loses();
    const text = await lease.handOver();
    await loses();
    const restored = await sides.us.restore(text);
    await loses();
    await restored.downgrade();
    expect((await sides.us.inspect('k_lock')).mode).toBe('shared');
    await loses();
    expect(await restored.release()).toBe(true);
    expect(await sides.theirs.exists('k_lock')).toBe(0);
  });

  it('lets a plain lock with the guard be written once more, whoever asks meanwhile', async () => {
    start();
    const plain = sides.client({ dialect: { name: 'plain', guard: 'timestamp' } });
    const lease = await plain.acquire('k_lock', { ttl: 30_000, renew: false });
    for (const acquire of Object.values(kinds)) {
      await sides.us.inspect('k_lock');
      await expect(acquire(sides.us, 0)).rejects.toThrow(LockNotAcquiredError);
    }
    const theirs = await sides.theirs.getset('k_lock', String(Date.now() + 60_000));
    await sides.us.inspect('k_lock');
    await lease.extend();
    expect(await sides.theirs.get('k_lock')).toBe(theirs);
    expect(await lease.release()).toBe(true);
    expect(await sides.theirs.exists('k_lock', '{k_lock}:grant')).toBe(0);
  });

  it.each(
    (['s', 'ms', 'float'] as const).flatMap((unit) =>
      (['commands', 'script'] as const).map((protocol) => ({ unit, protocol })),
    ),
  )('leaves a timestamp lock to its holder: %j', async (format) => {
    start();
    const timed = sides.client({ dialect: { name: 'timestamp', suffix: '_lock', ...format } });
    const lease = await timed.acquire('k', { ttl: 30_000 });
    const theirs = await sides.theirs.get('k_lock');
    for (const acquire of Object.values(kinds)) {
      await sides.us.inspect('k_lock');
      await expect(acquire(sides.us, 0)).rejects.toThrow(LockNotAcquiredError);
    }
    expect(await sides.theirs.get('k_lock')).toBe(theirs);
    await lease.extend();
    expect(await lease.release()).toBe(true);
    expect(await sides.theirs.exists('k_lock', '{k_lock}:grant')).toBe(0);
  });

  it('excludes one without, which is stolen', async () => {
    const peer = await them('s');
    const without = sides.client({ keyPrefix: '' });
    const lease = await without.acquire('k_lock');
    await expect(start().acquire('k_lock', { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
    await sides.theirs.set('k_lock', 'abcd', 'KEEPTTL');
    expect(await peer.acquire('k', 5_000)).toBe(true);
    expect(await lease.release()).toBe(false);
  });

  it.each([
    [{ guard: 'dog' }, 'Option "guard" takes \'timestamp\''],
    [{ guard: 'timestamp', nodes: ['redis://a', 'redis://b'] }, 'exclude each other'],
  ])('%j is refused', (options, message) => {
    expect(() => moduleSettings(options as never)).toThrow(LockOptionsError);
    expect(() => moduleSettings(options as never)).toThrow(message);
  });
});
