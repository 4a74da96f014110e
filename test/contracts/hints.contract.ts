import { expect } from '@jest/globals';
import type { Lease } from '../../lib/engine/client/leases/lease.js';
import type { Answer, LockStore } from '../../lib/engine/locks/lock-store.js';
import { LockStoreError } from '../../lib/engine/errors/index.js';
import { entryOf } from '../../lib/engine/locks/entry.js';
import type { LockRequest } from '../../lib/engine/locks/lock-request.js';
import { FIRST_LEASE, TOKEN_LEAD } from '../../lib/engine/protocol/constants.js';
import { atMost, PATIENCE, TTL } from '../support/bounds.js';
import type { Contract } from '../support/contract.js';
import { later } from '../support/later.js';
import { losingPushes } from '../support/losing-pushes.js';
import { type LockingProcess, type World, type Wrap, withSteps } from '../support/world.js';

export const hints: Contract = {
  async 'a waiter whose push was lost finds its lock by asking, within 1.1 s'(world) {
    const [a, b] = [await world.process(), await world.process({}, losingPushes)];
    const lease = await a.acquire();
    const wait = later(b.acquire({ ttl: TTL, wait: Infinity }));
    await world.waiting(1);
    await lease.release();
    const from = world.clock.monotonic();
    const successor = await world.finish(wait);
    expect(world.clock.monotonic() - from).toBeLessThan(atMost(world, 1_100));
    expect(successor.held).toBe(true);
  },

  async 'a grant that an ask finds, and not a push, has the inbox doubted'(world) {
    let missed = 0;
    const deaf: Wrap = (store, clock) =>
      losingPushes(withSteps(store, { pushMissed: () => void (missed += 1) }), clock);
    const [a, b] = [await world.process(), await world.process({}, deaf)];
    // Where an ask comes by chance as soon as the push would have, nothing was missed.
    for (let turn = 0; turn < 20 && missed === 0; turn += 1) {
      const lease = await a.acquire();
      const wait = later(b.acquire({ wait: Infinity }));
      await world.waiting(1);
      await lease.release();
      await (await world.finish(wait)).release();
    }
    expect(missed).toBe(1);
  },

  async 'a lease that an operator took is lost at the next renewal, though nobody told'(world) {
    const [a, operator] = [await world.process({}, losingPushes), await world.client()];
    const lease = await a.acquire({ ttl: TTL });
    await operator.lock.force('k');
    await world.pass(TTL / 3 + 100);
    await world.until('the signal aborts', () => lease.signal.aborted);
    expect(lease.held).toBe(false);
  },

  async 'a grant that comes twice is one lease'(world) {
    const [a, b] = [
      await world.process(),
      await world.process({}, (store) =>
        withSteps(store, {
          open: (listener) =>
            store.open({
              ...listener,
              granted: (request, grant) => {
                listener.granted(request, grant);
                listener.granted(request, grant);
              },
            }),
        }),
      ),
    ];
    const lease = await a.acquire();
    const wait = b.acquire();
    await world.waiting(1);
    await lease.release();
    const successor = await world.finish(wait);
    await world.elapse(50);
    expect(successor.held).toBe(true);
    expect(b.locks.load).toMatchObject({ held: 1, leaving: 0 });
    expect(await successor.release()).toBe(true);
  },
};

/**
 * B is pushed a grant when what it knows of the server's clock is old. Resolves to its lease, and to how often it asked then;
 * `steps` are those that its store takes otherwise.
 */
async function grantedUndated(
  world: World,
  steps: (store: LockStore) => Partial<LockStore>,
): Promise<{ b: LockingProcess; successor: Lease; asks: number }> {
  let asks = 0;
  const [a, b] = [
    await world.process(),
    await world.process({}, (store) => {
      const { acquire = (ask) => store.acquire(ask), ...others } = steps(store);
      const counted = (ask: LockRequest): Promise<Answer> => {
        asks += 1;
        return acquire(ask);
      };
      return withSteps(store, { ...others, acquire: counted });
    }),
  ];
  const lease = await a.acquire();
  const wait = b.acquire({ ttl: 10_000 });
  await world.waiting(1);
  b.clock.stall(5_000);
  const before = asks;
  await lease.release();
  const successor = await world.finish(wait);
  return { b, successor, asks: asks - before };
}

/** A store whose last ask is known, as to whoever reads the queue. */
export function overhear(): { readonly wrap: Wrap; asked?: LockRequest } {
  const heard: ReturnType<typeof overhear> = {
    wrap: (store) => withSteps(store, { acquire: (ask) => store.acquire((heard.asked = ask)) }),
  };
  return heard;
}

/**
 * A holds `k`, and B waits for it with this ttl, to read where `mode` says so. `forge` sends B a grant of words that
 * somebody made up, behind what it asked for.
 */
export async function deceived(
  world: World,
  ttl: number,
  mode?: 'shared',
): Promise<{
  lease: Lease;
  wait: Promise<Lease>;
  /** What B believes to hold; undefined where the forgery came too late, as on a busy machine. */
  believed: () => Promise<Lease | undefined>;
  forge: (words: string) => Promise<unknown>;
}> {
  const { control, prefix } = world.redis!;
  const heard = overhear();
  const [a, b] = [await world.process(), await world.process({}, heard.wrap)];
  const lease = await a.acquire();
  const wait = later(b.acquire({ ttl, wait: 1_000, ...(mode && { mode }) }));
  const believed = async (): Promise<Lease | undefined> => {
    const deceit = await wait.catch(() => undefined);
    if (deceit) expect(deceit.expiresAt - b.clock.wall()).toBeLessThanOrEqual(FIRST_LEASE);
    return deceit;
  };
  await world.waiting(1);
  const inbox = `${prefix}inbox:${b.store.processId}`;
  const forge = (words: string): Promise<unknown> =>
    control.publish(inbox, `granted ${entryOf(heard.asked!)} ${words} ${prefix}k`);
  return { lease, wait, believed, forge };
}

/** The server's clock, in µs. */
export async function serverTime(world: World): Promise<number> {
  const [seconds, micros] = await world.redis!.control.time();
  return Number(seconds) * 1_000_000 + Number(micros);
}

export const hintsOnRedis: Contract = {
  async 'a grant that is repeated, to whomever, takes no lease from its holder'(world) {
    const { control, prefix } = world.redis!;
    const heard: string[] = [];
    const spy = control.duplicate();
    spy.on('pmessage', (_pattern: string, _channel: string, text: string) => heard.push(text));
    try {
      await spy.psubscribe(`${prefix}inbox:*`);
      const [a, b, c] = [await world.process(), await world.process(), await world.process()];
      const several = { share: { permits: 2, count: 2 } };
      const holders = async (): Promise<unknown> =>
        (await world.snapshot()).holders.map(({ holder }) => holder);
      for (const [before, options] of [
        [{}, {}],
        [{ share: undefined }, { mode: 'shared' }],
        [several, several],
      ] as const) {
        const first = await a.acquire(before);
        heard.length = 0;
        const wait = b.acquire(options);
        await world.waiting(1);
        await first.release();
        const lease = await world.finish(wait);
        const grants = (): string[] => heard.filter((text) => text.startsWith('granted'));
        await world.until('it is overheard', () => grants().length > 0);
        const said = heard.slice(); // what is repeated is overheard, too
        const repeat = async (): Promise<void> => {
          for (const { store } of [a, b, c]) {
            for (const text of said) {
              await control.publish(`${prefix}inbox:${store.processId}`, text);
            }
            expect((await store.health(PATIENCE)).inbox).toBe(true); // what came before is dealt with
          }
        };
        const standing = await holders();
        await repeat();
        expect(lease.held).toBe(true);
        await lease.extend();
        expect(await holders()).toEqual(standing);
        expect(await lease.release()).toBe(true);
        await repeat();
        expect(b.locks.load).toMatchObject({ held: 0 });
        await (await c.acquire({ ...before, wait: 0 })).release();
      }
    } finally {
      spy.disconnect();
    }
  },

  async 'a forged grant that no script can have made is not believed'(world) {
    const { lease, wait, forge } = await deceived(world, 30_000);
    const now = await serverTime(world);
    const [soon, later] = [now + 60_000_000, now + 2 * TOKEN_LEAD];
    for (const words of [
      `30000 ${now} ${now} 1 0 -`,
      `${FIRST_LEASE + 1} ${now} ${now} 1 0 -`,
      `Infinity ${now} ${now} 1 0 -`,
      `NaN ${now} ${now} 1 0 -`,
      `${FIRST_LEASE} ${soon} ${now} 1 0 -`,
      `${FIRST_LEASE} ${now} ${later} 1 0 -`,
      `${FIRST_LEASE} ${now} -1 1 0 -`,
      `${FIRST_LEASE} ${now} NaN 1 0 -`,
      `${FIRST_LEASE} ${now} ${now}.5 1 0 -`,
      `${FIRST_LEASE} ${now} ${now} 1.5 1 -`,
      `${FIRST_LEASE} ${now} ${now} 1 0.5 -`,
      `${FIRST_LEASE} ${now}  0 0 -`,
      `${FIRST_LEASE} ${now} ${now} 0 0 -`,
      `${FIRST_LEASE} ${now} ${now} 100000 0 -`,
      `${FIRST_LEASE} ${now} ${now} 65 65 -`,
      `${FIRST_LEASE} ${now} ${now} 1 -1 -`,
      `${FIRST_LEASE} ${now} ${now} 1 x -`,
    ]) {
      await forge(words);
    }
    await expect(wait).rejects.toMatchObject({ code: 'LOCK_NOT_ACQUIRED' });
    expect(await lease.release()).toBe(true);
  },

  async 'a forged grant that looks right is believed for a first lease at most'(world) {
    const { lease, believed, forge } = await deceived(world, 30_000);
    const now = await serverTime(world);
    await forge(`${FIRST_LEASE} ${now} ${now} 1 0 -`);
    const deceit = await believed();
    if (deceit) {
      await deceit.extend().catch(() => {});
      expect(deceit.held).toBe(false);
    }
    expect(lease.held).toBe(true);
    expect(await lease.release()).toBe(true);
  },

  async 'a forged grant that was believed leaves nothing in the queue when it is given back'(
    world,
  ) {
    const { lease, believed, forge } = await deceived(world, 30_000);
    const now = await serverTime(world);
    await forge(`${FIRST_LEASE} ${now} ${now} 1 0 -`);
    const deceit = await believed();
    expect(await deceit?.release()).not.toBe(true);
    await world.waiting(0);
    expect(await lease.release()).toBe(true);
    await world.until('nobody holds it', async () => (await world.holder()) === '');
  },

  async 'a forged grant for an id of our own that waits no longer does not lengthen its lease'(
    world,
  ) {
    const { control, prefix } = world.redis!;
    const heard = overhear();
    const process = await world.process({}, heard.wrap);
    const { store } = process;
    const ttl = FIRST_LEASE - 1_000;
    await process.acquire({ ttl, renew: false });
    const now = await serverTime(world);
    const entry = entryOf({ ...heard.asked!, ttl: TTL });
    const words = `granted ${entry} ${FIRST_LEASE} ${now} ${now} 1 0 - ${prefix}k`;
    await control.publish(`${prefix}inbox:${store.processId}`, words);
    expect((await store.health(PATIENCE)).inbox).toBe(true); // what came before is dealt with
    const { remaining } = await store.inspect('k', 1);
    expect(remaining).toBeLessThanOrEqual(ttl);
  },

  async 'a lease that runs out is lost to its time, though somebody says that an operator took it'(
    world,
  ) {
    const { control, prefix } = world.redis!;
    const outage = new LockStoreError('Redis is away.', { key: 'k', outcome: 'unsent' });
    const unrenewed: Wrap = (store) => withSteps(store, { extend: () => Promise.reject(outage) });
    const process = await world.process({}, unrenewed);
    const lease = await process.acquire({ ttl: TTL });
    const { holder } = await world.snapshot();
    await control.publish(`${prefix}inbox:${process.store.processId}`, `forced ${holder}`);
    await world.pass(TTL);
    await world.until('the signal aborts', () => lease.signal.aborted);
    expect(lease.signal.reason).toMatchObject({ reason: 'expired' });
  },

  async 'a push whose time cannot be told is confirmed before the caller enters'(world) {
    const { b, successor, asks } = await grantedUndated(world, () => ({}));
    expect(asks).toBe(1);
    const { remaining } = await world.snapshot();
    expect(successor.expiresAt - b.clock.wall()).toBeLessThanOrEqual(remaining + 5);
  },

  async 'a push whose time cannot be told was heard: its inbox is as good as before'(world) {
    let missed = 0;
    const { asks } = await grantedUndated(world, (store) => ({
      acquire: async (ask) => {
        if (ask.enqueuedAt !== undefined) await world.elapse(150); // as on a busy machine
        return store.acquire(ask);
      },
      pushMissed: () => void (missed += 1),
    }));
    expect([asks > 0, missed]).toEqual([true, 0]);
  },

  async 'a push of a grant that is over, and comes after the next one, brings no old token'(world) {
    const { control, prefix } = world.redis!;
    let granted: LockRequest | undefined;
    const late: Wrap = (store) =>
      withSteps(store, {
        open: (listener) =>
          store.open({
            ...listener,
            granted: (request, grant) => {
              if (granted) listener.granted(request, grant); // the first one gets lost
              granted = request;
            },
          }),
      });
    const [a, b] = [await world.process(), await world.process({}, late)];
    const lease = await a.acquire();
    const wait = b.acquire();
    await world.waiting(1);
    await lease.release();
    await world.until('it is granted', () => granted !== undefined);
    const { now } = await world.snapshot();
    const old = `500 ${Math.round((now - 1_000) * 1_000)} ${lease.fencingToken - 1_000_000} 1 0 -`;
    const inbox = `${prefix}inbox:${b.store.processId}`;
    await control.publish(inbox, `granted ${entryOf(granted!)} ${old} ${prefix}k`);
    expect((await world.finish(wait)).fencingToken).toBeGreaterThan(lease.fencingToken);
  },

  async 'nonsense in an inbox changes nothing'(world) {
    const { control, prefix } = world.redis!;
    const process = await world.process();
    const lease = await process.acquire();
    const { holder } = await world.snapshot();
    const inbox = `${prefix}inbox:${process.store.processId}`;
    for (const text of [
      '',
      'granted',
      'granted x',
      'forced',
      'forced x',
      `forced ${holder}`,
      `granted ${holder} 99999999 1 7 ${prefix}k`,
      'granted nobody/x NaN NaN NaN',
      'x'.repeat(10_000),
    ]) {
      expect(await control.publish(inbox, text)).toBe(1);
    }
    await world.elapse(100);
    expect(lease.held).toBe(true);
    expect(await world.holder()).toBe(holder);
    expect(await lease.release()).toBe(true);
  },

  async 'a forged grant gives nobody a lock that is another’s'(world) {
    const { control, prefix } = world.redis!;
    const [a, b] = [await world.process(), await world.process()];
    const lease = await a.acquire();
    const wait = later(b.acquire({ wait: 400 }));
    await world.waiting(1);
    const guessed = `${b.store.processId}/AAAAAAAAAAAAAAAAAAAAAA`;
    const now = Date.now() * 1_000;
    await control.publish(
      `${prefix}inbox:${b.store.processId}`,
      `granted ${guessed} 3000 ${now} ${now} ${prefix}k`,
    );
    await expect(wait).rejects.toMatchObject({ code: 'LOCK_NOT_ACQUIRED' });
    expect(lease.held).toBe(true);
    expect(await lease.release()).toBe(true);
  },
};
