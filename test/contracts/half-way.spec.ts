// A node of a Cluster stops a script half-way when it touches a key that it has emptied, while the slot moves to
// another node. Each state that a script can leave so is planted here, with a marker that would last a minute.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { entryOf } from '../../lib/engine/locks/entry.js';
import type { LockRequest } from '../../lib/engine/locks/lock-request.js';
import { isReader, READER } from '../../lib/engine/options/index.js';
import { PERMITS } from '../../lib/engine/protocol/constants.js';
import { type LockKeys, lockKeys } from '../support/lock-keys.js';
import type { Client } from '../support/client.js';
import { isOfInterest } from '../support/contract.js';
import { kinds } from '../support/kinds.js';
import { stopShared, type Topology, topologies } from '../support/topologies.js';
import type { World } from '../support/world.js';
import { marked, permits, remains, TTL, wanted } from './half-way-states.js';

let topology: Topology;
let world: World;
let keys: LockKeys;
afterAll(stopShared);

describe.each(['one Redis', 'a cluster'].filter((name) => isOfInterest(name)))('on %s', (name) => {
  beforeAll(async () => {
    topology = await topologies[name]!();
  });
  afterAll(() => topology.stop());
  beforeEach(async () => {
    world = await topology.world(kinds['lock']!);
    keys = lockKeys(world.redis!.prefix, 'k');
  });
  afterEach(() => world.close());

  describe.each(marked)('a marker of $of over $left, and who wants the lock $want', (row) => {
    const share = wanted[row.want];
    let client: Client;
    let other: Client;
    beforeEach(async () => {
      [client, other] = [await world.client(), await world.client()];
      await world.redis!.control.set(keys.lock, row.marker, 'PX', TTL);
      await remains[row.left]!(world.redis!.control, keys);
    });

    it('comes in at once where nobody waits', async () => {
      expect(await world.snapshot()).toMatchObject({ type: 'none', holder: '', mode: undefined });
      const { request, grant } = await client.hold({ share });
      expect(grant.remaining).toBe(5_000);
      await holds(request);
    });

    it('comes in at once without queueing', async () => {
      const request = client.request({ share });
      expect(await client.try(request)).toMatchObject({ kind: 'held', remaining: 5_000 });
      await holds(request);
    });

    it('comes in with the next ask of the first in the queue', async () => {
      const request = client.request({ share });
      await queued(request);
      expect(await client.ask(request, { enqueuedAt: '1' })).toMatchObject({ kind: 'held' });
      await holds(request);
    });

    it('comes in when somebody else gives its entry up', async () => {
      const request = client.request({ share });
      await queued(request);
      await other.lock.leave(other.request());
      await world.until('the first is told', () => client.granted(request) !== undefined);
      await holds(request);
    });

    if (name === 'one Redis') {
      it('comes in alone behind one whose process has just ended', async () => {
        const [dead, request] = [client.request({ share }), client.request({ share })];
        await queued({ ...dead, holder: dead.holder.replace(/^[^/]+/, 'ended') }, 0);
        await queued(request);
        const asking = row.of === 'readers' ? READER : permits.share;
        await other.lock.leave(other.request({ share: asking })); // has the next one let in
        await world.until('the first is told', () => client.granted(request) !== undefined);
        await holds(request);
      });
    }

    it('comes in when who stopped half-way tries to give back once more', async () => {
      const request = client.request({ share });
      await queued(request);
      const left = other.request({ share: row.of === 'readers' ? READER : permits.share });
      expect(await other.lock.release(left, 0)).toBe(false);
      expect(await other.lock.leave(left)).toBe(false);
      await world.until('the first is told', () => client.granted(request) !== undefined);
      await holds(request);
    });

    async function holds(request: LockRequest): Promise<void> {
      const { holder, holders } = await world.snapshot();
      expect(share ? holders.map((each) => each.holder)[0] : holder).toBe(request.holder);
      const beside = share && isReader(share) ? undefined : share;
      expect((await other.try(other.request({ share: beside }))).kind).toBe('busy');
      expect(await client.lock.release(request, 0)).toBe(true);
      expect(await world.redis!.control.exists(keys.lock, keys.holders)).toBe(0);
    }
  });

  describe.each(Object.entries(wanted))('who wants the lock %s', (_, share) => {
    it('comes in when the lock is gone and it is still in the queue', async () => {
      const client = await world.client();
      const request = client.request({ share });
      await queued(request);
      expect(await client.ask(request, { enqueuedAt: '1' })).toMatchObject({ kind: 'held' });
    });

    it('comes in when the lock is gone, and its entry too', async () => {
      const client = await world.client();
      const request = client.request({ share });
      expect(await client.ask(request, { enqueuedAt: '1' })).toMatchObject({ kind: 'held' });
    });

    it('is told that it holds it when it was granted and not told', async () => {
      const [client, other] = [await world.client(), await world.client()];
      const request = client.request({ share });
      await client.ask(request);
      await queued(other.request(), 2);
      expect(await client.ask(request, { enqueuedAt: '1' })).toMatchObject({ kind: 'held' });
    });

    it('is kept out by nobody whose lease was written without its marker', async () => {
      const client = await world.client();
      await world.redis!.control.zadd(keys.holders, Date.now() + TTL, 'p/unmarked');
      const { request } = await client.hold({ share });
      const { holder, holders } = await world.snapshot();
      expect(share ? holders.map((each) => each.holder) : [holder]).not.toContain('p/unmarked');
      expect(await client.lock.release(request, 0)).toBe(true);
      expect(await client.try(client.request())).toMatchObject({ kind: 'held' });
    });
  });

  it('an optimistic read sees no semaphore where a marker is nobody’s', async () => {
    const client = await world.client();
    await world.redis!.control.set(keys.lock, PERMITS, 'PX', TTL);
    expect(await client.lock.stamp('k')).toBeGreaterThan(0);
  });

  it('a lease that was downgraded half-way is given back whole', async () => {
    const client = await world.client();
    const { request } = await client.hold();
    await world.redis!.control.zadd(keys.holders, Date.now() + TTL, request.holder);
    await client.lock.leave({ ...request, share: READER });
    await client.lock.leave(request);
    expect(await client.try(client.request())).toMatchObject({ kind: 'held' });
  });

  /** The request's entry is in the queue, and its process was seen. */
  async function queued(request: LockRequest, arrival = 1): Promise<void> {
    const { control } = world.redis!;
    await control.zadd(keys.queue, arrival, entryOf(request));
    await control.zadd(keys.seen, Date.now(), request.holder.split('/')[0]!);
    for (const key of [keys.queue, keys.seen]) await control.pexpire(key, TTL);
  }
});
