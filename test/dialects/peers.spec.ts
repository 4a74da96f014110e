import { describe, expect, it } from '@jest/globals';
import { LockNotAcquiredError } from '../../lib/index.js';
import type { LockClient } from '../support/lock-client.js';
import { until } from '../support/until.js';
import { Crowd } from './crowd.js';
import { peers } from './peers/index.js';
import type { PeerClient } from './peers/peer.js';
import { Sides } from './sides.js';

const sides = new Sides();
/** The name of the lock. */
const name = 'shared:k';

// Skipped by name, with what is missing.
for (const { name: peer, missing } of peers) {
  // oxlint-disable-next-line jest/no-disabled-tests
  if (missing !== undefined) it.skip(`${peer}: ${missing}`, () => {});
}

describe.each(peers.filter(({ missing }) => missing === undefined))('$name', (peer) => {
  const { dialect, shortest } = peer;
  const lease = shortest * 4;

  const ours = (): LockClient => sides.client({ dialect });
  const theirs = (): Promise<PeerClient> => sides.peer(peer);

  it('is excluded while we hold the lock, and has it when we give it back', async () => {
    const [us, them] = [ours(), await theirs()];
    const held = await us.acquire(name);
    expect(await them.acquire(name, lease)).toBe(false);
    expect(await held.release()).toBe(true);
    expect(await them.acquire(name, lease)).toBe(true);
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
    expect(await them.acquire(name, lease)).toBe(true);
    await them.close();
    expect((await us.acquire(name)).held).toBe(true);
  });

  it('has the lock when we crashed and our lease is over', async () => {
    const [us, them] = [ours(), await theirs()];
    await us.acquire(name, { ttl: 400 });
    expect(await them.acquire(name, lease)).toBe(false);
    await us.store.close();
    await until('they have it', () => them.acquire(name, lease));
  });

  it('stays excluded while we renew', async () => {
    const [us, them] = [ours(), await theirs()];
    const held = await us.acquire(name, { ttl: 200 });
    const over = performance.now() + 700;
    await until('three leases are over', async () => {
      expect(await them.acquire(name, lease)).toBe(false);
      return performance.now() > over;
    });
    expect(held.held).toBe(true);
  });

  it('cannot give back what has become ours', async () => {
    const [us, them] = [ours(), await theirs()];
    expect(await them.acquire(name, shortest)).toBe(true);
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
    const held = await us.acquire(name, { ttl: 60, renew: false });
    await until('they have it', () => them.acquire(name, 30_000));
    expect(await held.release()).toBe(false);
    await expect(us.acquire(name, { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
  });

  it('and we never hold the lock at the same time, three clients each', async () => {
    const [us, them] = [
      [ours(), ours(), ours()],
      await Promise.all([theirs(), theirs(), theirs()]),
    ];
    const crowd = new Crowd(process.env['FULL'] ? 20_000 : 800);
    await Promise.all([
      ...us.map((client) => crowd.ours(client, name)),
      ...them.map((client) => crowd.theirs(client, name)),
    ]);
    crowd.check();
  }, 60_000);
});
