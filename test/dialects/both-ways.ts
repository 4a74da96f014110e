import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { LockNotAcquiredError } from '../../lib/index.js';
import type { Lease } from '../../lib/engine/client/leases/lease.js';
import type { LockProcess } from '../support/lock-process.js';
import { tryEach } from '../support/trials.js';
import { until } from '../support/until.js';
import type { Peer, PeerClient } from './peers/peer.js';
import { Crowd } from './crowd.js';
import type { Sides } from './sides.js';

/** Those that can be tested here; each other is skipped by name, with what is missing. */
export function thoseHere<Each extends Pick<Peer, 'name' | 'missing'>>(
  peers: readonly Each[],
): Each[] {
  for (const { name: peer, missing } of peers) {
    // oxlint-disable-next-line jest/no-disabled-tests
    if (missing !== undefined) it.skip(`${peer}: ${missing}`, () => {});
  }
  return peers.filter(({ missing }) => missing === undefined);
}

/** Describes each of them that can be tested here, and returns those. */
export function describeEach<Each extends Pick<Peer, 'name' | 'missing'>>(
  peers: readonly Each[],
  tests: (peer: Each) => void,
): Each[] {
  const here = thoseHere(peers);
  if (here.length > 0) {
    describe.each(here)('$name', (peer) => {
      tests(peer);
    });
  }
  return here;
}

/** What holds beside the libraries of one language; `crowds` says it of many clients of each of them. */
export function shareLocks<Each extends Peer>(
  sides: Sides,
  peers: readonly Each[],
  crowds: (sides: Sides, here: readonly Each[]) => void = neverBoth,
): void {
  const here = describeEach(peers, (peer) => {
    excludeEachOther(sides, peer);
  });
  if (here.length === 0) return;
  describe('each of them', () => {
    outlastLeases(sides, here);
    crowds(sides, here);
  });
}

function neverBoth(sides: Sides, here: readonly Peer[]): void {
  it('and we never hold the lock at the same time, three clients each, and lose no update', () =>
    eachOf(here, async (peer, nth) => {
      const us = [1, 2, 3].map(() => sides.client({ dialect: peer.dialect }));
      const them = await Promise.all([1, 2, 3].map(() => sides.peer(peer)));
      const key = `crowd${nth}`;
      const crowd = new Crowd(sides.theirs, process.env['FULL'] ? 10_000 : 500, { key });
      await Promise.all([
        ...us.map((client) => crowd.ours(client, key)),
        ...them.map((client) => crowd.theirs(client, key)),
      ]);
      await crowd.check();
    }));
}

/** Some of them beside each other; who fails is named. */
export async function eachOf<Each extends Pick<Peer, 'name'>>(
  all: readonly Each[],
  check: (each: Each, nth: number) => Promise<void>,
  atOnce?: number,
): Promise<void> {
  const failures: string[] = [];
  await tryEach(
    all,
    (each, nth) =>
      check(each, nth).catch(
        (error: unknown) => void failures.push(`${each.name}: ${String(error)}`),
      ),
    atOnce,
  );
  expect(failures).toEqual([]);
}

/** What holds of a client of another library and of ours, whoever comes first. */
function excludeEachOther(sides: Sides, peer: Peer): void {
  const { dialect, shortest } = peer;
  const lease = shortest * 4;
  const ours = (): LockProcess => sides.client({ dialect });

  let them: PeerClient;
  let name = '';
  let tests = 0;
  beforeAll(async () => {
    them = await peer.connect(sides.redis.url);
  });
  beforeEach(() => void (name = `shared:${(tests += 1)}`)); // it may remember what it held
  afterAll(() => them.close());

  it('is excluded while we hold the lock, and has it when we give it back', async () => {
    const us = ours();
    const held = await us.acquire(name);
    expect(await them.acquire(name, lease)).toBe(false);
    expect(await held.release()).toBe(true);
    await until('they have it', () => them.acquire(name, lease));
  });

  it('excludes us while it holds the lock, and who waits here has it when it gives it back', async () => {
    const us = ours();
    expect(await them.acquire(name, 30_000)).toBe(true);
    await expect(us.acquire(name, { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
    const waiting = us.acquire(name);
    await us.waiting(name);
    expect(await them.release(name)).toBe(true);
    expect((await waiting).held).toBe(true);
  });

  it('that crashed has held the lock no longer than its lease', async () => {
    const [us, mortal] = [ours(), await sides.peer(peer)];
    await until('they have it', () => mortal.acquire(name, lease));
    await mortal.close();
    expect((await us.acquire(name)).held).toBe(true);
  });

  it('cannot give back what has become ours', async () => {
    const us = ours();
    await until('they have it', () => them.acquire(name, shortest)); // some refuse what took as long as that
    const held = await us.acquire(name);
    await them.release(name).then(
      (released) => expect(released).toBe(false),
      () => {},
    );
    await held.extend();
    expect(held.held).toBe(true);
  });

  it('keeps what has become its own when we give it back', async () => {
    const us = ours();
    const held = await us.acquire(name, { ttl: 300, renew: false });
    await until('they have it', () => them.acquire(name, 30_000));
    expect(await held.release()).toBe(false);
    await expect(us.acquire(name, { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
  });

  it('keeps what an operator took from us before we give it back', async () => {
    const [us, operator] = [ours(), ours()];
    const held = await us.acquire(name); // nobody has told us, so that our release goes to Redis
    await operator.force(name);
    await until('they have it', () => them.acquire(name, 30_000));
    expect(await held.release()).toBe(false);
    await expect(us.acquire(name, { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
  });
}

/** The same of leases of seconds: all wait for theirs at once, each for a lock of its own. */
function outlastLeases(sides: Sides, here: readonly Peer[]): void {
  const each = (
    ttl: number,
    check: (lease: Lease, again: () => Promise<boolean>, us: LockProcess) => Promise<void>,
  ): Promise<void> =>
    eachOf(
      here,
      async (peer, nth) => {
        const [us, key] = [sides.client({ dialect: peer.dialect }), `shared:${nth}`];
        const them = await sides.peer(peer);
        const lease = await us.acquire(key, { ttl });
        expect(await them.acquire(key, 10_000)).toBe(false);
        await check(lease, () => them.acquire(key, 10_000), us);
      },
      here.length,
    );

  it('has the lock when we crashed and our lease is over', async () => {
    await each(3_000, async (_lease, again, us) => {
      await us.store.close();
      await until('they have it', again);
    });
  });

  it('stays excluded while we renew', async () => {
    await each(4_000, async (lease, again) => {
      const { expiresAt } = lease;
      await until('a lease is over', async () => {
        expect(await again()).toBe(false);
        return Date.now() > expiresAt;
      });
      expect(lease.held).toBe(true);
    });
  });
}
