import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Grant } from '../../lib/engine/locks/lock-store.js';
import type { LockRequest } from '../../lib/engine/locks/lock-request.js';
import {
  type LockDialect,
  lockFormat,
  READER,
  type Share,
} from '../../lib/engine/options/index.js';
import type { Client } from '../support/client.js';
import { kinds } from '../support/kinds.js';
import { MemoryWorld } from '../support/memory-world.js';
import { samples } from './samples.js';

const MINUTE = 60_000;
const LEASE = 10_000;

/** Whether several may read a lock of this dialect together. */
function isShared(dialect: LockDialect): boolean {
  const { family, kind } = lockFormat(dialect);
  return family === 'symfony' || kind === 'readWrite';
}

let world: MemoryWorld;
let us: Client;
let others: Client;

beforeEach(async () => {
  world = new MemoryWorld(kinds['lock']!);
  [us, others] = [await world.client(), await world.client()];
});

/** How long the token beside the lock is remembered, in ms. */
async function versionLife(): Promise<number | undefined> {
  return (await world.keys()).find(({ name }) => name.endsWith(':version'))?.ttl;
}

describe.each(samples.filter(isShared))('readers in dialect %j', (dialect) => {
  const format = lockFormat(dialect);

  it.each<[how: string, step: (request: LockRequest) => Promise<unknown>]>([
    ['is asked for again', (request) => us.try(request)],
    ['is extended', (request) => us.lock.extend([request])],
    ['is released', (request) => us.lock.release(request, 0)],
  ])(
    'have each an end of its own, when one %s; their token outlives the last of them',
    async (_how, step) => {
      const long = await others.hold({ format, share: READER, ttl: 3 * MINUTE });
      const short = await us.hold({ format, share: READER, ttl: LEASE });
      await world.elapse(400);
      expect(await us.try(short.request)).toMatchObject({ remaining: LEASE - 400 });
      await step(short.request);
      expect(await versionLife()).toBeGreaterThanOrEqual(4 * MINUTE - 400);
      expect(await others.try(long.request)).toMatchObject({
        remaining: 3 * MINUTE - 400,
        fencingToken: short.grant.fencingToken,
      });
      expect((await us.try(us.request({ format }))).kind).toBe('busy');
    },
  );
});

describe.each(samples)('the lease in dialect %j', (dialect) => {
  const format = lockFormat(dialect);
  const shares: [as: string, share: Share | undefined][] = [['its only holder', undefined]];
  if (isShared(dialect)) shares.push(['a reader', READER]);
  /** The most ms that a time lasts beyond the lease: a time in whole seconds is rounded up. */
  const rounded = format.family !== 'timestamp' ? 0 : format.unit === 's' ? 1_000 : 1;

  /** Whether its tokens are ours, beside the lock. */
  const tokens = format.fencing && format.kind !== 'fenced';

  describe.each(shares)('of %s', (_as, share) => {
    let request: LockRequest;
    let grant: Grant;

    beforeEach(async () => {
      const tokenBlock = format.fencing ? 1 : 0;
      ({ request, grant } = await us.hold({ format, share, ttl: LEASE, tokenBlock }));
      await world.elapse(400); // no moment of what follows is a whole second
    });

    const extended = async (ttl: number) => (await us.lock.extend([{ ...request, ttl }])).remaining;
    const looked = async () => {
      const { holders, remaining } = await us.lock.inspect('k', 9, format);
      return holders[0]?.remaining ?? remaining;
    };

    async function expectLeft(ms: number): Promise<void> {
      for (const left of [((await us.try(request)) as Grant).remaining, await looked()]) {
        expect(left).toBeGreaterThanOrEqual(ms);
        expect(left).toBeLessThanOrEqual(ms + rounded);
      }
    }

    it('is as long as was said, to who asks again, looks or extends', async () => {
      await expectLeft(LEASE - 400);
      await world.elapse(600);
      expect(await extended(LEASE)).toEqual([LEASE]);
      await world.elapse(3_000);
      await expectLeft(LEASE - 3_000);
      const [longer] = await extended(1_000);
      expect(longer).toBeGreaterThanOrEqual(LEASE - 3_000);
      expect(longer).toBeLessThanOrEqual(LEASE - 3_000 + rounded);
    });

    it('keeps its token for a minute longer than it lasts, as it was granted and as it was extended', async () => {
      expect(await versionLife()).toBe(tokens ? LEASE + MINUTE - 400 : undefined);
      await extended(3 * MINUTE);
      expect(await versionLife()).toBe(tokens ? 4 * MINUTE : undefined);
      await world.elapse(3 * MINUTE - 500);
      const again = (await us.try(request)) as Grant;
      expect([again.kind, again.fencingToken]).toEqual(['held', grant.fencingToken]);
    });

    it('ends when it was said to end, and another has the lock then', async () => {
      expect(await extended(LEASE)).toEqual([LEASE]);
      await world.elapse(LEASE - 1);
      const kinds: string[] = [];
      for (const [, other] of shares) {
        const beside = others.request({ format, share: other });
        kinds.push((await others.try(beside)).kind);
        await others.lock.leave(beside);
      }
      expect(kinds).toEqual(shares.map(([, other]) => (share && other ? 'held' : 'busy')));
      await world.elapse(2 + (rounded && 2_000)); // a time stands there a second longer, and to the end of its second
      expect((await others.try(others.request({ format }))).kind).toBe('held');
      expect(await us.lock.release(request, 0)).toBe(false);
      expect(await extended(LEASE)).toEqual(['taken']);
    });
  });
});

/** Whether clients of the SETNX articles may write a time over a lock of this dialect. */
function hasTimes(dialect: LockDialect): boolean {
  const { family, timestampCompat } = lockFormat(dialect);
  return family === 'timestamp' || timestampCompat === true;
}

describe.each(samples.filter(hasTimes))('over a lease in dialect %j', (dialect) => {
  const format = lockFormat(dialect);
  const name = `${format.prefix}k${format.suffix}`;
  let request: LockRequest;
  let grant: Grant;

  /** Another client writes a time that is so many ms ahead, and goes on. */
  function written(ms: number): string {
    const { keys, clock } = world.server;
    const moment = clock.wall() + ms;
    const value = format.unit === 'ms' ? String(moment) : String(Math.floor(moment / 1_000));
    keys.set(name, { type: 'string', value, endsAt: Infinity });
    return value;
  }

  /** What is in the server, beside the key that counts the tokens of all locks. */
  const left = async (): Promise<string[]> =>
    (await world.keys()).map((key) => key.name).filter((key) => !key.endsWith(':fence'));

  const stands = (): string | undefined => {
    world.server.keys.tick();
    return world.server.keys.get('string', name);
  };

  beforeEach(async () => {
    const tokenBlock = format.fencing ? 1 : 0;
    ({ request, grant } = await us.hold({ format, ttl: LEASE, tokenBlock }));
    await world.elapse(300);
  });

  it.each<[how: string, step: () => Promise<unknown>]>([
    ['asks', () => us.try(request)],
    ['extends', () => us.lock.extend([{ ...request, ttl: 1_000 }])],
  ])(
    'a client that lost a take-over writes a time: who %s still holds it to its end',
    async (_how, step) => {
      written(2_000);
      await step();
      const { fencingToken } = grant;
      expect(await us.try(request)).toMatchObject({ kind: 'held', fencingToken });
      const [longer] = (await us.lock.extend([{ ...request, ttl: 1_000 }])).remaining;
      expect(longer).toBeGreaterThanOrEqual(LEASE - 300);
      await world.elapse(LEASE - 301);
      expect((await others.try(others.request({ format }))).kind).toBe('busy');
      expect(await us.lock.release(request, 0)).toBe(true);
      expect(await left()).toEqual([]);
    },
  );

  it('a client that lost a take-over writes a time: who gives back leaves nothing', async () => {
    written(2_000);
    expect(await us.lock.release(request, 0)).toBe(true);
    expect(await left()).toEqual([]);
  });

  it('a third client writes a time a second later: it is that one’s, to every step', async () => {
    await world.elapse(701);
    const value = written(60_000);
    expect((await us.try(request)).kind).toBe('busy');
    expect((await us.lock.extend([request])).remaining).toEqual(['taken']);
    expect((await us.lock.inspect('k', 9, format)).holder).toBe(value);
    expect(await us.lock.release(request, 0)).toBe(false);
    expect(stands()).toBe(value);
  });
});
