import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { AsyncLocalStorage } from 'node:async_hooks';
import { Logger } from '@nestjs/common';
import {
  type Lease,
  lockChannels,
  lockKey,
  type LockEventName,
  type LockService,
} from '../../lib/index.js';
import {
  type LockTestingOptions,
  ManualClock,
  MemoryServer,
  memoryLockService,
} from '../../lib/memory/testing/index.js';
import { Publisher } from '../../lib/engine/events/index.js';
import { Heard } from '../support/heard.js';
import { StallingClock } from '../support/stalling-clock.js';

let clock: ManualClock;
let server: MemoryServer;
let locks: LockService;
let heard: Heard;

function another(options: LockTestingOptions = {}): LockService {
  return memoryLockService({ clock, server, ...options });
}

beforeEach(() => {
  clock = new ManualClock();
  server = new MemoryServer(clock);
  locks = another();
  heard = new Heard();
});
afterEach(() => heard[Symbol.dispose]());

const ACCOUNT = {
  name: 'account',
  key: 'account:42',
  mode: 'exclusive',
  topology: 'memory',
  module: undefined,
};

describe('a call and a hold', () => {
  it('are told from their start to their end', async () => {
    const lease = await locks.acquire('account:42', { name: 'account' });
    expect(heard.steps).toEqual([
      'acquire:start',
      'acquire:end',
      'hold:start',
      'hold:end',
      'acquire:asyncStart',
      'acquire:asyncEnd',
    ]);
    const [[call], [hold]] = [heard.calls, heard.holds];
    const token = lease.fencingToken;
    expect(call).toEqual({
      ...ACCOUNT,
      startedAt: 0,
      wait: 10_000,
      outcome: 'acquired',
      waited: 0,
      token,
    });
    await clock.advance(1_500);
    await lease.release();
    expect(heard.steps.slice(6)).toEqual(['hold:asyncStart', 'hold:asyncEnd']);
    expect(hold).toEqual({
      ...ACCOUNT,
      startedAt: 0,
      acquire: call,
      handedFrom: undefined,
      waited: 0,
      token,
      held: 1_500,
      end: 'released',
    });
    expect(heard.told).toEqual([
      { event: 'acquired', about: { ...ACCOUNT, waited: 0, queued: false, token } },
      { event: 'released', about: { ...ACCOUNT, held: 1_500, token } },
    ]);
  });

  it('of a caller that waits are told with the wait, in the store’s queue and behind its own process', async () => {
    const other = await another().acquire('k', { name: 'other' });
    const first = locks.acquire('k', { name: 'first' });
    await clock.advance(1_000);
    const second = locks.acquire('k', { name: 'second' });
    await clock.advance(500);
    expect(heard.of('contended')).toMatchObject([
      { name: 'first', key: 'k', rank: 0 },
      { name: 'second', key: 'k', rank: undefined },
    ]);
    await other.release();
    const lease = await first;
    expect(lease.waited).toBe(1_500);
    await lease.release();
    expect((await second).waited).toBe(500);
    const [, one, two] = heard.holds;
    expect(one).toMatchObject({ name: 'first', waited: 1_500, handedFrom: undefined });
    expect(two).toMatchObject({ name: 'second', waited: 500, handedFrom: one });
    await (await second).release();
    expect(heard.of('handedOff')).toMatchObject([{ name: 'first', to: 'local' }]);
    expect(heard.calls.map(({ queued }) => queued)).toEqual([undefined, true, true]);
    expect(heard.unbalanced).toEqual([]);
  });

  it.each<[string, LockEventName, () => Promise<unknown>, object, boolean]>([
    ['busy', 'timedOut', () => locks.acquire('k', { wait: 200 }), { waited: 200 }, true],
    ['busy', 'timedOut', () => locks.tryAcquire('k'), { waited: 0, wait: 0 }, false],
    [
      'aborted',
      'aborted',
      () => locks.acquire('k', { signal: AbortSignal.abort('no more') }),
      { waited: 0 },
      true,
    ],
    [
      'refused',
      'refused',
      () => another({ limits: { waitersPerProcess: 1 } }).acquire(['k', 'l']),
      { by: 'limit', key: 'k, l' },
      true,
    ],
    [
      'refused',
      'refused',
      async () => {
        const [down, refused] = [another(), another().acquire('k')];
        await down[Symbol.asyncDispose]();
        await Promise.allSettled([down.acquire('k')]);
        refused.catch(() => {});
        throw new Error('as told');
      },
      { by: 'shutdown' },
      true,
    ],
    [
      'failed',
      'failed',
      () => {
        server.pause();
        return locks.acquire('l', { wait: 100 });
      },
      { key: 'l', error: expect.objectContaining({ code: 'LOCK_STORE' }) },
      true,
    ],
  ])('that is %s is told as %s', async (outcome, event, ask, about, rejects) => {
    await another().acquire('k', { ttl: '1h' });
    const before = heard.calls.length;
    const asked = ask().then(
      () => false,
      () => true,
    );
    await clock.advance(3_000);
    expect(await asked).toBe(rejects);
    const calls = heard.calls.slice(before).filter((call) => call.outcome === outcome);
    expect(calls).toHaveLength(1);
    expect(heard.of(event)).toEqual([expect.objectContaining(about)]);
    expect(heard.failed).toEqual(rejects ? calls : []);
  });

  it('for several locks are one call, and a hold of each', async () => {
    const other = await another().acquire('b');
    const coming = locks.acquire(['c', 'a', 'b'], { name: 'pair' });
    await clock.advance(400);
    await other.release();
    const lease = await coming;
    expect(lease.waited).toBe(400);
    const [, call] = heard.calls;
    expect(heard.calls).toHaveLength(2);
    expect(call).toMatchObject({ name: 'pair', key: 'a, b, c', outcome: 'acquired', queued: true });
    const held = heard.holds.filter(({ acquire, end }) => acquire === call && !end);
    expect(held.map(({ key }) => key)).toEqual(['a', 'b', 'c']);
    expect(heard.of('contended')).toMatchObject([{ name: 'pair', key: 'b' }]);
    await lease.release();
    expect(heard.of('timedOut')).toEqual([]);
    expect(heard.unbalanced).toEqual([]);
  });

  it('are told once, however often the same code enters the lock again', async () => {
    await locks.withLock(['a', 'b'], async () => {
      await locks.withLock('a', async () => {});
      await locks.withLock(['b', 'a'], async () => {});
    });
    expect(heard.events).toEqual(['acquired', 'released', 'released']);
    expect(heard.unbalanced).toEqual([]);
  });

  it.each([
    ['shared', () => locks.acquire('k', { mode: 'shared' })],
    ['permit', () => locks.semaphore('k', { permits: 2, name: 'two' }).acquire()],
  ])('say that the mode is %s', async (mode, acquire) => {
    await (await acquire()).release();
    expect([heard.calls[0]!.mode, heard.holds[0]!.mode]).toEqual([mode, mode]);
  });

  it('run what is below them inside what a subscriber binds to the start', async () => {
    const store = new AsyncLocalStorage<string>();
    lockChannels.acquire.start.bindStore(
      store as never,
      ((trace: { key: string }) => trace.key) as never,
    );
    let seen: string | undefined;
    const note = (): void => void (seen = store.getStore());
    lockChannels.acquire.end.subscribe(note);
    const timed = jest.spyOn(clock, 'after').mockImplementation(() => {
      seen = store.getStore();
      return () => {};
    });
    await locks.acquire('bound', { wait: 0 });
    expect(timed).toHaveBeenCalled();
    expect(seen).toBe('bound');
    lockChannels.acquire.end.unsubscribe(note);
    lockChannels.acquire.start.unbindStore(store as never);
  });
});

describe('a hold that does not end by a release', () => {
  it('is lost, with the reason', async () => {
    const lease = await locks.acquire('k', { name: 'mine' });
    await clock.advance(200);
    await another().forceRelease('k');
    await clock.advance(10);
    expect(lease.held).toBe(false);
    expect(heard.of('lost')).toMatchObject([{ name: 'mine', reason: 'forced' }]);
    expect(heard.holds[0]).toMatchObject({ end: 'lost', reason: 'forced' });
    await lease.release();
    expect(heard.events).toEqual(['acquired', 'lost']);
    expect(heard.unbalanced).toEqual([]);
  });

  it('is lost where the release comes too late', async () => {
    const stalled = new StallingClock(clock);
    const lease = await another({ clock: stalled }).acquire('k', { ttl: 100, renew: false });
    stalled.stall(500);
    expect(await lease.release()).toBe(false);
    expect(heard.of('lost')).toMatchObject([{ reason: 'expired' }]);
    expect(heard.unbalanced).toEqual([]);
  });

  it('is lost by a shutdown, once', async () => {
    await locks.acquire('k');
    await locks[Symbol.asyncDispose]();
    expect(heard.of('lost')).toMatchObject([{ reason: 'shutdown' }]);
    expect(heard.events).toEqual(['acquired', 'lost']);
    expect(heard.unbalanced).toEqual([]);
  });

  it('goes on in another process', async () => {
    const lease = await locks.acquire('k', { name: 'job' });
    const text = await lease.handOver();
    expect(heard.of('handedOff')).toMatchObject([{ to: 'process', key: 'k', name: 'job' }]);
    const restored = await another().restore(text);
    expect(restored.waited).toBe(0);
    const [given, taken] = heard.holds;
    expect(given).toMatchObject({ end: 'handedOver' });
    expect(taken).toMatchObject({ name: 'job', acquire: undefined, token: lease.fencingToken });
    await restored.release();
    expect(heard.events).toEqual(['acquired', 'handedOff', 'released']);
    expect(heard.unbalanced).toEqual([]);
  });

  it('ends while its holder awaits a condition, and is another when it is held again', async () => {
    const lease = await locks.acquire('k', { name: 'waiter' });
    const awaited = locks.condition(lease, 'ready').await({ wait: '10s' });
    await clock.advance(100);
    expect(heard.holds).toMatchObject([{ end: 'awaiting' }]);
    const signaller = await locks.acquire('k');
    await locks.condition(signaller, 'ready').signal();
    await signaller.release();
    await clock.advance(100);
    expect(await awaited).toBe(true);
    expect(heard.holds.at(-1)).toMatchObject({ name: 'waiter', acquire: heard.calls[0] });
    await lease.release();
    expect(heard.unbalanced).toEqual([]);
  });

  it('is lost where its holder gets it back no more after a condition', async () => {
    const lease = await locks.acquire('k');
    const awaited = locks.condition(lease, 'ready').await({ wait: '10s' });
    await clock.advance(100);
    await Promise.allSettled([locks[Symbol.asyncDispose](), awaited, clock.advance(100)]);
    expect(heard.of('lost')).toMatchObject([{ reason: 'shutdown' }]);
    expect(heard.unbalanced).toEqual([]);
  });

  it('has renewals that failed', async () => {
    const hasty = another({ commandTimeout: 500 });
    await hasty.acquire('k', { ttl: '3s', name: 'mine' });
    server.pause();
    await clock.advance(2_900);
    const [first] = heard.of('renewalFailed');
    expect(first).toMatchObject({ name: 'mine', error: { code: 'LOCK_STORE' } });
    expect(first!.left).toBeLessThan(2_100);
    await clock.advance(200);
    expect(heard.of('lost')).toMatchObject([{ reason: 'expired' }]);
  });
});

describe('an election', () => {
  it('may have a name that is longer than the name of an event', async () => {
    const election = locks.election('x'.repeat(493));
    await election.campaign();
    expect(heard.holds[0]!.key).toHaveLength(500);
    expect(heard.holds[0]!.name).toHaveLength(200);
  });

  it('tells who was elected and deposed', async () => {
    const election = locks.election('mail');
    const lease = await election.campaign();
    const [elected] = heard.of('elected');
    const subject = { name: 'leader:mail', key: 'leader:mail', mode: 'exclusive' };
    expect(elected).toMatchObject({ ...subject, token: lease.fencingToken });
    await another().forceRelease('leader:mail');
    await clock.advance(10);
    expect(heard.of('deposed')).toMatchObject([{ ...subject, reason: 'forced' }]);
  });
});

describe('where nobody listens', () => {
  it('nothing is told, or made to be told, of a lock that is waited for and given back', async () => {
    heard[Symbol.dispose]();
    const told = (['call', 'hold', 'holdEnded', 'subject', 'tell'] as const).map((name) =>
      jest.spyOn(Publisher.prototype, name),
    );
    const contended = jest.spyOn(Publisher.prototype, 'contended');
    const lease = await locks.acquire(['k', 'l']);
    const [next, other] = [locks.acquire('k'), another().acquire('l')];
    await clock.advance(10);
    await lease.release();
    await clock.advance(10);
    for (const each of [await next, await other]) await each.release();
    for (const method of told) expect(method).not.toHaveBeenCalled();
    expect(contended.mock.calls.length).toBeGreaterThan(0);
    expect(contended.mock.calls.filter(([trace]) => trace !== undefined)).toEqual([]);
    heard = new Heard();
    await (await locks.acquire('k')).release();
    for (const method of told) expect(method).toHaveBeenCalled();
    jest.restoreAllMocks();
  });
});

describe('the name of a lock', () => {
  it('is what the call says', async () => {
    await locks.acquire('account:1', { name: 'account' });
    expect(heard.calls[0]!.name).toBe('account');
  });

  it('is the text of lockKey, with a sign for each value', async () => {
    const key = lockKey`account:${4}:${'x'}`;
    await locks.acquire(key);
    await locks.acquire([lockKey`from:${1}`, lockKey`to:${2}`, lockKey`to:${3}`, 'plain']);
    expect(heard.calls.map(({ name }) => name)).toEqual([
      'account:<>:<>',
      'from:<>, (unnamed), to:<>',
    ]);
    expect(heard.holds.at(-1)).toMatchObject({ key: 'to:3', name: 'to:<>' });
  });

  it('is that of the last 5,000 keys', async () => {
    const keys = Array.from({ length: 5_001 }, (_, nth) => lockKey`many:${nth}`);
    await locks.acquire(keys[0]!);
    await locks.acquire(keys[1]!);
    expect(heard.calls.map(({ name }) => name)).toEqual(['(unnamed)', 'many:<>']);
  });

  it('is known to who listens to losses alone', async () => {
    heard[Symbol.dispose]();
    const names: (string | undefined)[] = [];
    const hear = (lost: unknown): unknown => names.push((lost as { name?: string }).name);
    lockChannels.lost.subscribe(hear);
    const key = lockKey`lost:${1}`;
    await locks.acquire(key);
    await locks.forceRelease(key);
    await clock.advance(1);
    lockChannels.lost.unsubscribe(hear);
    expect(names).toEqual(['lost:<>']);
    heard = new Heard();
  });

  it('is not kept where nobody listens', async () => {
    heard[Symbol.dispose]();
    const key = lockKey`silent:${1}`;
    heard = new Heard();
    await locks.acquire(key);
    expect(heard.calls[0]!.name).toBe('(unnamed)');
  });

  it.each(['', 'x'.repeat(201), 5])('that is %p is refused', async (name) => {
    await expect(locks.acquire('k', { name: name as string })).rejects.toThrow('Option "name"');
  });
});

describe('LockService.events', () => {
  it('tells of the locks of its module alone', async () => {
    const other = another();
    const keys: string[] = [];
    other.events.on('acquired', ({ key }) => keys.push(key));
    await locks.acquire('a');
    await other.acquire('b');
    expect(keys).toEqual(['b']);
  });

  it('tells of what began before somebody listened, where that ends badly', async () => {
    heard[Symbol.dispose]();
    await locks.acquire('k', { name: 'old' });
    const lost: unknown[] = [];
    locks.events.once('lost', (event) => lost.push(event));
    await clock.advance(70);
    await locks.forceRelease('k');
    await clock.advance(10);
    expect(lost).toMatchObject([{ name: 'old', key: 'k', held: 70, reason: 'forced' }]);
    expect(locks.events.eventNames()).toEqual([]);
  });

  it('calls every listener, whatever one of them throws, and logs it', async () => {
    const logged = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => {});
    const heardBy: string[] = [];
    locks.events
      .on('acquired', () => {
        throw new Error('at once');
      })
      .on('acquired', (() => Promise.reject(new Error('later'))) as () => void)
      .on('acquired', () => void heardBy.push('last'));
    const lease = await locks.acquire('k');
    expect([lease.held, heardBy]).toEqual([true, ['last']]);
    await new Promise(setImmediate);
    const text = 'A listener of "acquired" of the lock service failed.';
    expect(logged.mock.calls.map(([said, error]) => [said, (error as Error).message])).toEqual([
      [text, 'at once'],
      [text, 'later'],
    ]);
    logged.mockRestore();
  });

  it('throws nothing for an event "error" that nobody listens to', () => {
    expect(locks.events.emit('error', new Error('of whoever emits it'))).toBe(false);
  });

  it('a listener may ask for locks, release and abort', async () => {
    const abort = new AbortController();
    const leases: (Lease | null)[] = [];
    let first: Lease | undefined;
    locks.events
      .on('contended', () => abort.abort())
      .on('aborted', () => void first!.release())
      .on('released', () => {
        void locks.tryAcquire('k').then((lease) => leases.push(lease));
      });
    first = await locks.acquire('k');
    await expect(locks.acquire('k', { signal: abort.signal })).rejects.toThrow('aborted');
    await clock.advance(1);
    expect(leases.map((lease) => lease?.held)).toEqual([true]);
    expect(heard.unbalanced.length).toBe(1);
  });
});
