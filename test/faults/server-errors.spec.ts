import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ForeignLockError, LockStoreError } from '../../lib/engine/errors/index.js';
import type { Lease } from '../../lib/engine/client/leases/lease.js';
import { BEFORE_START_TIMEOUT, BY_POLL } from '../support/bounds.js';
import { closeAll } from '../support/closing.js';
import type { FaultProxy } from '../support/fault-proxy.js';
import { LockProcess } from '../support/lock-process.js';
import type { Observer } from '../support/observer.js';
import { until } from '../support/until.js';
import { TroubledServer, troubles } from './troubled-server.js';

/** A lease that is renewed after a second, in ms; the machine may take two more for it. */
const RENEWED = 3_000;

let server: TroubledServer;
let observer: Observer;
let proxy: FaultProxy;
let mine: LockProcess;
let theirs: LockProcess;
beforeEach(async () => {
  server = await TroubledServer.start();
  ({ observer, proxy, mine, theirs } = server);
});
afterEach(closeAll);

describe.each(Object.entries(troubles))('%s', (code, begin) => {
  it('in the middle of every step grants nothing twice and loses no waiter', async () => {
    const gone = new AbortController();
    const held = await mine.acquire('k', { renew: false });
    const aborted = theirs.acquire('k', { signal: gone.signal });
    await observer.queued('k', 1);
    const first = mine.acquire('k');
    await observer.queued('k', 2);
    const second = theirs.acquire('k');
    await observer.queued('k', 3);

    const end = await begin(server);
    const refused = [mine.acquire('new'), theirs.acquire('k'), mine.acquire('new', { wait: 0 })];
    for (const call of refused) {
      const error = await call.catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(LockStoreError);
      expect((error as Error).message).toContain(code);
      expect((error as LockStoreError).retryable).toBe(true);
    }
    gone.abort('gone');
    await expect(aborted).rejects.toBe('gone');
    expect(await held.release()).toBe(true);
    await end();

    const one = await first;
    expect(one.fencingToken).toBeGreaterThan(held.fencingToken);
    expect(one.held).toBe(true);
    expect(await observer.waiting('k')).toBe(1);
    expect(await one.release()).toBe(true);
    const two = await second;
    expect(two.fencingToken).toBeGreaterThan(one.fencingToken);
    expect(await two.release()).toBe(true);
    await nothingLeft();
  });

  it('over a renewal costs no lease, and over the whole ttl no more than that lease', async () => {
    const lease = await mine.acquire('k', { ttl: RENEWED });
    const next = theirs.acquire('k');
    await observer.queued('k', 1);
    const { expiresAt } = lease;
    const end = await begin(server);
    const renewals = jest.spyOn(mine.store, 'extend');
    const renewal = await until('a renewal is tried', () => renewals.mock.results[0]);
    const [{ status }] = await Promise.allSettled([renewal.value]);
    expect(code === 'OOM' || status === 'rejected').toBe(true); // a renewal needs no memory
    await end();
    await until('the lease is renewed', () => lease.expiresAt > expiresAt);
    expect(lease.held).toBe(true);
    expect(lease.signal.aborted).toBe(false);
    expect(await lease.release()).toBe(true);
    expect((await next).fencingToken).toBeGreaterThan(lease.fencingToken);
    await (await next).release();
    await nothingLeft();
  });
});

it('without memory, those who wait already stay in line and are served', async () => {
  const held = await mine.acquire('k');
  const waiting: Promise<Lease>[] = [];
  for (const [at, client] of [theirs, mine, theirs].entries()) {
    waiting.push(client.acquire('k', { wait: 20_000 }));
    await observer.queued('k', at + 1);
  }
  const end = await troubles['OOM']!(server);
  await new Promise((resolve) => setTimeout(resolve, 3_500)); // longer than an unseen process keeps its places
  expect(await observer.waiting('k')).toBe(3);
  let last: Lease = held;
  for (const call of waiting) {
    expect(await last.release()).toBe(true);
    const lease = await call;
    expect(lease.fencingToken).toBeGreaterThan(last.fencingToken);
    last = lease;
  }
  expect(await last.release()).toBe(true);
  await end();
  await nothingLeft();
});

describe.each<[string, string, (client: LockProcess) => Promise<Lease>]>([
  ['alone', 'lock:k', (client) => client.acquire('k', { minHold: 60_000 })],
  ['by a reader', 'lock:k', (client) => client.acquire('k', { minHold: 60_000, mode: 'shared' })],
  [
    'by two permits',
    'lock:k',
    ({ locks, settings }) => {
      const share = { permits: 3, count: 2 };
      return locks.acquire('k', { ...settings.call, minHold: 60_000, share });
    },
  ],
  ['as a plain lock', 'k', (client) => client.acquire('k', { minHold: 60_000, dialect: 'plain' })],
  [
    'as Spring does',
    'r:k',
    (client) =>
      client.acquire('k', { minHold: 60_000, dialect: { name: 'spring', registry: 'r' } }),
  ],
])('what is held %s', (_how, name, acquire) => {
  it('is kept for its minimum hold when memory is short', async () => {
    const lease = await acquire(mine);
    const end = await troubles['OOM']!(server);
    expect(await lease.release()).toBe(true);
    await until('nothing is under way', () => mine.idle);
    expect(await observer.redis.pttl(name)).toBeGreaterThan(10_000);
    await end();
  });
});

describe('missing rights', () => {
  const acl = (...rules: string[]): Promise<unknown> =>
    observer.redis.call('ACL', 'SETUSER', 'app', ...rules);

  it.each([
    ['to channels', ['resetchannels']],
    ['to PUBLISH', ['-publish']],
    ['to SUBSCRIBE', ['-subscribe']],
    ['to scripts', ['-evalsha', '-eval', '-time']],
  ])('%s are told at the start, at once and for good', async (_, rules) => {
    await acl(...rules);
    const late = new LockProcess({ redis: proxy.url.replace('//', '//app:secret@') });
    const started = performance.now();
    const error: unknown = await late.locks.open().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(LockStoreError);
    expect((error as LockStoreError).retryable).toBe(false);
    expect((error as Error).message).toContain('NOPERM');
    expect(performance.now() - started).toBeLessThan(BEFORE_START_TIMEOUT);
    await late.close();
  });

  it('to channels that vanish while callers wait lose no waiter', async () => {
    const held = await mine.acquire('k');
    const waiting: Promise<Lease>[] = [];
    for (const [at, client] of [theirs, mine, theirs].entries()) {
      waiting.push(client.acquire('k'));
      await observer.queued('k', at + 1);
    }
    await acl('resetchannels');
    let last: Lease = held;
    for (let served = 0; served < waiting.length; served += 1) {
      expect(await last.release()).toBe(true);
      expect(mine.locks.load.leaving + theirs.locks.load.leaving).toBe(0); // the release was no error
      const from = performance.now();
      const at = await Promise.race(waiting.map((call, place) => call.then(() => place)));
      const lease = await waiting[at]!;
      expect(performance.now() - from).toBeLessThan(BY_POLL);
      expect(lease.fencingToken).toBeGreaterThan(last.fencingToken);
      waiting[at] = new Promise(() => {});
      last = lease;
    }
    await last.release();
    await nothingLeft();
  });

  it('to keys end the call with an error that tells so', async () => {
    await acl('resetkeys', '~other:*');
    const error: unknown = await mine.acquire('k').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(LockStoreError);
    expect((error as LockStoreError).retryable).toBe(false);
    await acl('~*');
    await nothingLeft();
  });
});

describe('a value of another type', () => {
  it.each([0, 10_000])(
    'at the key is a ForeignLockError and stays as it is (wait %d)',
    async (wait) => {
      await observer.redis.rpush('lock:k', 'a');
      await expect(mine.acquire('k', { wait })).rejects.toThrow(ForeignLockError);
      await until('the client is idle', () => mine.idle);
      expect(await observer.redis.lrange('lock:k', 0, -1)).toEqual(['a']);
      expect(await observer.traces()).toEqual(['lock:k']);
    },
  );

  it('that takes the place of a held lock ends lease and waiting', async () => {
    const lease = await mine.acquire('k', { ttl: RENEWED });
    const waiting = theirs.acquire('k');
    await observer.queued('k', 1);
    await observer.redis.multi().del('lock:k').rpush('lock:k', 'a').exec();
    await expect(waiting).rejects.toThrow(ForeignLockError);
    await until('the holder knows', () => lease.signal.aborted);
    expect(lease.signal.reason).toMatchObject({ reason: 'taken' });
    expect(await lease.release()).toBe(false);
    await until('all clients are idle', () => mine.idle && theirs.idle);
    expect(await observer.redis.lrange('lock:k', 0, -1)).toEqual(['a']);
    expect(await observer.traces()).toEqual(['lock:k']);
  });

  it.each(['queue', 'seen', 'fence'])(
    'at the key of its %s is a ForeignLockError',
    async (part) => {
      const key = part === 'fence' ? 'lock:{}:fence' : `{lock:k}:${part}`;
      const held = part === 'fence' ? undefined : await theirs.acquire('k', { ttl: RENEWED });
      await observer.redis.del(key);
      await observer.redis.hset(key, 'a', 'b');
      const refused = mine.acquire('k', { ttl: RENEWED }); // a holder that cannot leave ends by its ttl
      await expect(refused).rejects.toThrow(ForeignLockError);
      await held?.release();
      await until('all clients are idle', () => mine.idle && theirs.idle);
      expect(await observer.holder('k')).toBeNull();
      expect(await observer.redis.hgetall(key)).toEqual({ a: 'b' });
    },
  );

  it('in one lease of a batch does not stop the renewal of the others', async () => {
    const leases = await Promise.all(
      ['a', 'b', 'c'].map((key) => mine.acquire(key, { ttl: RENEWED })),
    );
    await observer.redis.multi().del('lock:b').rpush('lock:b', 'x').exec();
    await until('b is lost', () => leases[1]!.signal.aborted);
    expect(leases[1]!.signal.reason).toMatchObject({ reason: 'taken' });
    const before = leases[0]!.expiresAt;
    await until('a is renewed', () => leases[0]!.expiresAt > before);
    expect(leases.map(({ held }) => held)).toEqual([true, false, true]);
    await Promise.all(leases.map((lease) => lease.release()));
    await until('the client is idle', () => mine.idle);
    expect(await observer.traces()).toEqual(['lock:b']);
  });
});

async function nothingLeft(): Promise<void> {
  await until('all clients are idle', () => mine.idle && theirs.idle);
  expect(await observer.traces()).toEqual([]);
}
