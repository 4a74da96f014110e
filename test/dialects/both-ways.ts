import { describe, expect, it } from '@jest/globals';
import { LockNotAcquiredError } from '../../lib/index.js';
import type { Lease } from '../../lib/engine/client/lease.js';
import type { LockProcess } from '../support/lock-process.js';
import { until } from '../support/until.js';
import type { Peer, PeerClient } from './peers/peer.js';
import { Crowd } from './crowd.js';
import type { Sides } from './sides.js';

/** The name of the lock. */
const name = 'shared:k';

/**
 * Describes each of them that can be tested here, and returns those; each other is skipped by name, with what is missing.
 */
export function describeEach<Each extends Pick<Peer, 'name' | 'missing'>>(
  peers: readonly Each[],
  tests: (peer: Each) => void,
): Each[] {
  for (const { name: peer, missing } of peers) {
    // oxlint-disable-next-line jest/no-disabled-tests
    if (missing !== undefined) it.skip(`${peer}: ${missing}`, () => {});
  }
  const here = peers.filter(({ missing }) => missing === undefined);
  if (here.length > 0) {
    describe.each(here)('$name', (peer) => {
      tests(peer);
    });
  }
  return here;
}

/** What holds beside the libraries of one language; `crowd` says it of many clients of one of them. */
export function shareLocks<Each extends Peer>(
  sides: Sides,
  peers: readonly Each[],
  crowd: (sides: Sides, peer: Each) => void = neverBoth,
): void {
  const here = describeEach(peers, (peer) => {
    excludeEachOther(sides, peer);
    crowd(sides, peer);
  });
  if (here.length === 0) return;
  describe('each of them', () => {
    outlastLeases(sides, here);
  });
}

function neverBoth(sides: Sides, peer: Peer): void {
  it('and we never hold the lock at the same time, three clients each, and lose no update', async () => {
    const us = [1, 2, 3].map(() => sides.client({ dialect: peer.dialect }));
    const them = await Promise.all([1, 2, 3].map(() => sides.peer(peer)));
    const crowd = new Crowd(sides.theirs, process.env['FULL'] ? 10_000 : 500);
    await Promise.all([
      ...us.map((client) => crowd.ours(client, 'crowd')),
      ...them.map((client) => crowd.theirs(client, 'crowd')),
    ]);
    await crowd.check();
  });
}

/** What holds of a client of another library and of ours, whoever comes first. */
function excludeEachOther(sides: Sides, peer: Peer): void {
  const { dialect, shortest } = peer;
  const lease = shortest * 4;

  const ours = (): LockProcess => sides.client({ dialect });
  const theirs = (): Promise<PeerClient> => sides.peer(peer);

  it('is excluded while we hold the lock, and has it when we give it back', async () => {
    const [us, them] = [ours(), await theirs()];
    const held = await us.acquire(name);
    expect(await them.acquire(name, lease)).toBe(false);
    expect(await held.release()).toBe(true);
    await until('they have it', () => them.acquire(name, lease));
  });

  it('excludes us while it holds the lock, and who waits here has it when it gives it back', async () => {
    const [us, them] = [ours(), await theirs()];
    expect(await them.acquire(name, 30_000)).toBe(true);
    await expect(us.acquire(name, { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
    const waiting = us.acquire(name);
    await us.waiting(name);
    expect(await them.release(name)).toBe(true);
    expect((await waiting).held).toBe(true);
  });

  it('that crashed has held the lock no longer than its lease', async () => {
    const [us, them] = [ours(), await theirs()];
    await until('they have it', () => them.acquire(name, lease));
    await them.close();
    expect((await us.acquire(name)).held).toBe(true);
  });

  it('cannot give back what has become ours', async () => {
    const [us, them] = [ours(), await theirs()];
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
    const [us, them] = [ours(), await theirs()];
    const held = await us.acquire(name, { ttl: 300, renew: false });
    await until('they have it', () => them.acquire(name, 30_000));
    expect(await held.release()).toBe(false);
    await expect(us.acquire(name, { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
  });

  it('keeps what an operator took from us before we give it back', async () => {
    const [us, operator, them] = [ours(), ours(), await theirs()];
    const held = await us.acquire(name); // nobody has told us, so that our release goes to Redis
    await operator.force(name);
    await until('they have it', () => them.acquire(name, 30_000));
    expect(await held.release()).toBe(false);
    await expect(us.acquire(name, { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
  });
}

/** The same of leases of seconds: all wait for theirs at once, each for a lock of its own. */
function outlastLeases(sides: Sides, here: readonly Peer[]): void {
  async function each(
    ttl: number,
    check: (lease: Lease, again: () => Promise<boolean>, us: LockProcess) => Promise<void>,
  ): Promise<void> {
    const checked = here.map(async (peer, nth) => {
      const [us, key] = [sides.client({ dialect: peer.dialect }), `${name}${nth}`];
      const them = await sides.peer(peer);
      const lease = await us.acquire(key, { ttl });
      expect(await them.acquire(key, 10_000)).toBe(false);
      await check(lease, () => them.acquire(key, 10_000), us);
    });
    const results = await Promise.allSettled(checked);
    const failures = results.flatMap((result, nth) =>
      result.status === 'rejected' ? [`${here[nth]!.name}: ${result.reason}`] : [],
    );
    expect(failures).toEqual([]);
  }

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
