import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { RedisProcess } from '../../tools/redis-server.js';
import { BY_POLL, TIMER_LATE } from '../support/bounds.js';
import { closeAll, closing } from '../support/closing.js';
import { type Fate, FaultProxy, type Link, type Weather } from '../support/fault-proxy.js';
import { Gate } from '../support/gate.js';
import { LockProcess } from '../support/lock-process.js';
import { Observer } from '../support/observer.js';
import { StallingClock } from '../support/stalling-clock.js';
import { until } from '../support/until.js';
import { isAcquire, isExtend, isRelease } from '../support/wire.js';
import {
  LeaseLostError,
  LockNotAcquiredError,
  LockStoreError,
} from '../../lib/engine/errors/index.js';
import type { BaseLease } from '../../lib/engine/client/leases/lease.js';
import { type AcquireOptions, systemClock } from '../../lib/engine/options/index.js';

const TIMEOUT = 200;
/** The time-out of commands where nobody says another, in ms. */
const COMMAND_TIMEOUT = 2_000;
/** A call that ends by its own time-out has ended by then, in ms: who does not know it goes by the default of 2 s. */
const BY_TIMEOUT = 1_900;

let redis: RedisProcess;
let observer: Observer;
let proxy: FaultProxy;
let client: LockProcess;
let clock: StallingClock;
/** As `client`, with a short time-out: for what is to fail. */
let hasty: LockProcess;
let other: LockProcess;
beforeAll(async () => {
  redis = await RedisProcess.start();
  observer = new Observer(redis.url);
  await loadScripts();
});
beforeEach(connect);
afterEach(closeAll);
afterAll(async () => {
  observer.close();
  await redis.stop();
});

describe('the reply of an acquire is lost', () => {
  for (const fate of ['cut', 'reset'] as const) {
    it(`and the caller has the lock once, with one token and a true deadline (${fate})`, async () => {
      const fence = (): Promise<string | null> => observer.redis.get('lock:{}:fence');
      const cameBy = proxy.once(isAcquire, fate);
      const call = client.acquire('k', { ttl: 5_000 });
      await cameBy;
      let goOn!: () => void;
      proxy.up = { until: new Promise((resolve) => (goOn = resolve)) };
      const minted = fate === 'cut' ? await until('the lost ask was granted', fence) : undefined;
      proxy.heal();
      goOn();
      const lease = await call;
      expect(await fence()).toBe(minted ?? String(lease.fencingToken));
      const left = await observer.redis.pttl('lock:k');
      expect(lease.expiresAt - Date.now()).toBeLessThanOrEqual(left);
      expect(lease.held).toBe(true);
      expect(Number(await observer.redis.get('lock:{}:fence'))).toBe(lease.fencingToken);
      expect(await other.acquire('k', { wait: 0 }).catch((error: Error) => error.name)).toBe(
        'LockNotAcquiredError',
      );
      expect(await lease.release()).toBe(true);
      clock.pass(COMMAND_TIMEOUT); // what got lost cannot come any more
      await nothingLeft();
    });
  }

  it('and a queued caller keeps its entry', async () => {
    const held = await other.acquire('k');
    void proxy.once(isAcquire, 'cut');
    const first = client.acquire('k');
    await observer.queued('k', 1);
    const second = other.acquire('k');
    await observer.queued('k', 2);
    await held.release();
    const lease = await first;
    expect(await observer.waiting('k')).toBe(1);
    expect(lease.fencingToken).toBeGreaterThan(held.fencingToken);
    await lease.release();
    expect((await second).fencingToken).toBeGreaterThan(lease.fencingToken);
    await (await second).release();
    clock.pass(COMMAND_TIMEOUT);
    await nothingLeft();
  });
});

describe('an acquire that does not get through ends in a typed error and leaves nothing', () => {
  /** Of who waits and of who does not, in commands of their own. */
  async function expectFailures(): Promise<void> {
    const ends: Promise<Outcome<unknown>>[] = [];
    for (const wait of [0, 10_000]) {
      ends.push(outcome(hasty.acquire(`k${wait}`, { wait })));
      await new Promise(setImmediate);
    }
    for (const { took, error } of await Promise.all(ends)) {
      expect(error).toBeInstanceOf(LockStoreError);
      expect(took).toBeLessThan(BY_TIMEOUT);
    }
  }

  const troubles: Record<string, () => unknown> = {
    'every request is lost': () => (proxy.fate = (words) => (isAcquire(words) ? 'lose' : 'pass')),
    'every reply is lost': () => (proxy.fate = (words) => (isAcquire(words) ? 'cut' : 'pass')),
    'every connection is reset': () =>
      (proxy.fate = (words) => (isAcquire(words) ? 'reset' : 'pass')),
    'requests arrive later than the time-out': () => (proxy.up = { delay: TIMEOUT * 6 }),
    'replies arrive later than the time-out': () => (proxy.down = { delay: TIMEOUT * 6 }),
    'requests vanish': () => (proxy.up = { drop: true }),
    'replies vanish': () => (proxy.down = { drop: true }),
    'the network is a black hole': () => proxy.blackHole(),
    'Redis refuses connections': () => proxy.refuse(),
    'Redis hangs': () => redis.signal('SIGSTOP'),
  };
  for (const [name, trouble] of Object.entries(troubles)) {
    it(`${name}, whether one waits or not`, async () => {
      await trouble();
      await expectFailures();
      redis.signal('SIGCONT');
      if (name.includes('refuses')) await proxy.listen();
      proxy.heal();
      await until('the client is connected', () => hasty.store.ready);
      await nothingComes();
      const lease = await heldHastily(); // and all is well again
      await lease.release();
    });
  }

  it('also when it arrives after everybody has given up', async () => {
    proxy.lateness = TIMEOUT * 4;
    proxy.fate = (words) => (isAcquire(words) ? 'late' : 'pass');
    await expectFailures();
    await until('the client is idle', () => hasty.idle);
    const answers = await Promise.all(proxy.lateAnswers);
    expect(answers.length).toBeGreaterThan(1);
    for (const answer of answers) expect(answer).toMatch(/late|^:-\d+\r\n$/); // the short script says it by its clock, negative
    expect(await observer.traces()).toEqual([]);
  });

  it('a client that never connected says so at its first call', async () => {
    await proxy.refuse();
    const late = new LockProcess({ redis: proxy.url, commandTimeout: TIMEOUT });
    const { error, took } = await outcome(late.acquire('k', { wait: 0 }));
    expect(error).toBeInstanceOf(LockStoreError);
    expect(took).toBeLessThan(BY_TIMEOUT);
    await proxy.listen();
    await until('it is there after all', () =>
      late.acquire('k').then(
        (lease) => lease.release(),
        () => false,
      ),
    );
    await late.close();
  });
});

describe('a subscription that is never answered', () => {
  const isSubscribe = (words: readonly string[]): boolean => words[0] === 'subscribe';

  it('ends the first call with a typed error, and holds up no later one', async () => {
    const late = new LockProcess({ redis: proxy.url, commandTimeout: TIMEOUT });
    void proxy.once(isSubscribe, 'lose');
    const { error, took } = await outcome(late.acquire('k'));
    expect(error).toBeInstanceOf(LockStoreError);
    expect(took).toBeLessThan(BY_TIMEOUT);
    await until('a later call gets through', () =>
      late.acquire('k').then(
        (lease) => lease.release(),
        () => false,
      ),
    );
    await late.close();
  });

  it('after a reconnect is asked for again', async () => {
    const lost = proxy.once(isSubscribe, 'lose');
    [...proxy.links]
      .filter((link) => link.subscriber)
      .at(-1)!
      .reset(); // of who notices it soon
    await lost;
    await until('a new subscription', async () => {
      const channels = await observer.redis.pubsub('CHANNELS');
      return channels.length === 3;
    });
  });
});

describe('an outage while waiting', () => {
  it('is waited out, and the entry is kept', async () => {
    const held = await other.acquire('k');
    const waiting = client.acquire('k', { wait: 20_000 });
    await observer.queued('k', 1);
    await proxy.refuse();
    const behind = other.acquire('k', { wait: 20_000 });
    await observer.queued('k', 2);
    await proxy.listen();
    await until('the client is connected', () => client.store.ready);
    await until('the client hears again', async () => {
      if (![...proxy.links].some((link) => link.subscriber)) return false;
      return (await observer.redis.pubsub('CHANNELS')).length === 3; // else it would be passed over
    });
    await held.release();
    const [first, second] = [await waiting, behind];
    expect(first.held).toBe(true);
    await first.release();
    await (await second).release();
    await nothingLeft();
  });

  for (const [name, bounds, least] of [
    ['wait', { wait: 60_000, outageWait: 600_000 }, 60_000],
    ['outageWait', { wait: 600_000, outageWait: 60_000 }, 60_000],
  ] as const) {
    for (const trouble of ['blackHole', 'refuse'] as const) {
      it(`ends with a typed error at the end of ${name}, and nothing is left (${trouble})`, async () => {
        const held = await other.acquire('k', { ttl: 600_000 });
        const time = new StallingClock(systemClock);
        const { wait, outageWait } = bounds;
        const waiter = new LockProcess({ redis: proxy.url, outageWait }, undefined, time);
        await waiter.locks.open();
        const asked = time.monotonic();
        let end: unknown;
        waiter.acquire('k', { wait }).catch((error: unknown) => (end = error));
        await observer.queued('k', 1);
        await waiter.inspect('k'); // what was asked before on the same connection is answered too
        await proxy[trouble]();
        await until('the call ends', () => {
          if (!end) time.pass(500);
          return end;
        });
        const took = time.monotonic() - asked;
        expect(end).toBeInstanceOf(LockStoreError);
        expect(took).toBeGreaterThanOrEqual(least);
        expect(took).toBeLessThan(2 * least);
        await held.release();
        if (trouble === 'refuse') await proxy.listen();
        proxy.heal();
        await until('the waiter is idle', () => waiter.idle);
        await nothingLeft();
        await waiter.close();
      });
    }
  }
});

describe('a release', () => {
  for (const fate of ['cut', 'reset', 'lose'] as const) {
    it(`whose ${fate === 'cut' ? 'reply' : 'request'} is lost is no error and touches nobody else's lock (${fate})`, async () => {
      const lease = await heldHastily();
      const next = other.acquire('k');
      await observer.queued('k', 1);
      void proxy.once(isRelease, fate);
      expect(await lease.release()).toBe(true);
      const taken = await next;
      const holder = await observer.holder('k');
      await until('the client is idle', () => hasty.idle);
      expect(holder).not.toBeNull();
      expect(await observer.holder('k')).toBe(holder);
      expect(taken.held).toBe(true);
      expect(await taken.release()).toBe(true);
      await nothingLeft();
    });
  }

  it('in an outage is made up for after it', async () => {
    const lease = await heldHastily({ ttl: 30_000 });
    proxy.blackHole();
    const { took, value } = await outcome(lease.release());
    expect(value).toBe(true);
    expect(took).toBeLessThan(BY_TIMEOUT);
    expect(await observer.holder('k')).not.toBeNull();
    proxy.heal();
    await nothingLeft();
  });
});

describe('renewals', () => {
  const failures: Fate[] = ['lose', 'cut', 'reset', '-LOADING Redis is loading', '-OOM no memory'];
  for (const fate of failures) {
    it(`that fail for a while lose no lease (${fate})`, async () => {
      const lease = await client.acquire('k', { ttl: 30_000 });
      const first = lease.expiresAt;
      let failed = 0;
      proxy.fate = (words) => (isExtend(words) && ++failed <= 2 ? fate : 'pass');
      await until('a renewal got through', () => {
        if (failed <= 2 && client.store.ready) clock.pass(500);
        return lease.expiresAt > first + 1_000;
      });
      expect(failed).toBeGreaterThan(2);
      expect(lease.signal.aborted).toBe(false);
      expect(lease.held).toBe(true);
      expect(await lease.release()).toBe(true);
      clock.pass(COMMAND_TIMEOUT);
      await nothingLeft();
    });
  }

  it('that fail for good lose the lease at its deadline, not before and not long after', async () => {
    const ttl = 30_000;
    const lease = await client.acquire('k', { ttl });
    const lost = new Promise<number>((resolve) => {
      lease.signal.addEventListener('abort', () => resolve(clock.wall()));
    });
    const deadline = lease.expiresAt;
    proxy.fate = (words) => (isExtend(words) ? 'reset' : 'pass');
    await until('it is nearly over', () => {
      clock.pass(500);
      return clock.wall() > deadline - 1_000;
    });
    const at = await lost;
    expect(at).toBeGreaterThanOrEqual(deadline - 1);
    expect(at).toBeLessThan(deadline + TIMER_LATE);
    expect(lease.signal.reason).toMatchObject({ name: 'LeaseLostError', reason: 'expired' });
    expect(() => lease.assertHeld()).toThrow(LeaseLostError);
    await observer.redis.pexpire('lock:k', 1); // here the ttl has not passed
    const next = await other.acquire('k');
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
    expect(await lease.release()).toBe(false);
    proxy.heal();
    clock.pass(COMMAND_TIMEOUT);
    await until('the client is idle', () => client.idle);
    expect(next.held).toBe(true);
    expect(await next.release()).toBe(true);
    await nothingLeft();
  });
});

it('a deaf subscription costs a hand-off 1.1 s at most', async () => {
  for (const link of proxy.links) if (link.subscriber) link.down = { drop: true };
  for (let turn = 0; turn < 2; turn += 1) {
    const held = await other.acquire('k');
    const waiting = client.acquire('k');
    await observer.queued('k', 1);
    const released = performance.now();
    await held.release();
    const lease = await waiting;
    expect(performance.now() - released).toBeLessThan(BY_POLL);
    await lease.release();
  }
  await nothingLeft();
});

describe('an inbox in which a push was missed', () => {
  /** A waiting process finds its grant by asking; resolves to the connection of its inbox when it asks itself whether it hears. */
  async function doubted(way: FaultProxy, process: LockProcess, weather: Weather): Promise<Link> {
    await process.locks.open();
    const inbox = [...way.links].find(({ subscriber }) => subscriber)!;
    inbox.down = weather;
    let asked = false;
    way.fate = ([name, , text]) => {
      asked ||= name === 'publish' && /^hello \d/.test(text!);
      return 'pass';
    };
    // An ask that comes by chance as soon as the push would have says nothing.
    await until('it asks itself whether it hears', async () => {
      const held = await other.acquire('k');
      const waiting = process.acquire('k');
      await observer.queued('k', 1);
      await held.release();
      await (await waiting).release();
      return asked;
    });
    return inbox;
  }

  it('stays connected where the push was only late: who is connected anew hears nothing meanwhile', async () => {
    const way = await FaultProxy.before(redis.port);
    const process = new LockProcess({ redis: way.url, commandTimeout: 60_000 });
    const late = new Gate();
    const inbox = await doubted(way, process, { until: late.opened });
    late.open();
    expect((await process.store.health(60_000)).inbox).toBe(true);
    expect(way.links).toContain(inbox);
    await process.close();
    await way.close();
  });

  it('is connected anew where nothing is heard', async () => {
    const way = await FaultProxy.before(redis.port);
    const process = new LockProcess({ redis: way.url, commandTimeout: TIMEOUT });
    const inbox = await doubted(way, process, { drop: true });
    await until('its connection ends', () => !way.links.has(inbox));
    await until('it hears', async () => (await process.store.health(500)).inbox!);
    await process.close();
    await way.close();
  });
});

describe('slow networks', () => {
  it('byte by byte, everything works', async () => {
    proxy.up = proxy.down = { slice: true };
    const lease = await client.acquire('k');
    const waiting = [client.acquire('k'), other.acquire('k'), client.acquire('k')];
    await observer.queued('k', 3);
    await lease.release();
    const tokens = await Promise.all(
      waiting.map(async (call) => {
        const { fencingToken, release } = await call.then((next) => ({
          fencingToken: next.fencingToken,
          release: () => next.release(),
        }));
        await release();
        return fencingToken;
      }),
    );
    expect(new Set(tokens).size).toBe(3);
    await nothingLeft();
  });

  it('a deadline never lies behind the end of the key, however slow the answer', async () => {
    for (const [up, down] of [
      [0, 120],
      [120, 0],
      [60, 60],
    ] as const) {
      proxy.up = { delay: up };
      proxy.down = { delay: down };
      const lease = await client.acquire('k', { ttl: 2_000 });
      const now = Date.now();
      expect(now + (await observer.redis.pttl('lock:k'))).toBeGreaterThanOrEqual(lease.expiresAt);
      await lease.release();
      proxy.heal();
    }
    await nothingLeft();
  });

  it('a lease that is over when its answer arrives is never entered', async () => {
    proxy.down = { delay: 200 };
    let error: unknown;
    client.acquire('k', { ttl: 100, wait: 0 }).catch((why: unknown) => (error = why));
    await until('the call ends', () => {
      if (!error) clock.pass(20);
      return error;
    });
    expect(error).toBeInstanceOf(LockStoreError);
    expect((error as Error).message).toContain("was over before Redis' answer arrived");
    proxy.heal();
    clock.pass(COMMAND_TIMEOUT);
    await nothingLeft();
  });
});

/** An empty server, a proxy before it, and the processes: two behind the proxy, and another. */
async function connect(): Promise<void> {
  await observer.redis.flushall();
  proxy = await FaultProxy.before(redis.port);
  clock = new StallingClock(systemClock);
  client = new LockProcess({ redis: proxy.url }, undefined, clock);
  hasty = new LockProcess({ redis: proxy.url, commandTimeout: TIMEOUT, outageWait: 1_000 });
  other = new LockProcess({ redis: redis.url });
  closing.push(
    () => proxy.close(),
    () => Promise.all([client.close(), hasty.close(), other.close()]),
  );
  for (const each of [client, other]) await each.locks.open();
  const taken = (): Promise<boolean> =>
    hasty.acquire('first').then(
      (lease) => lease.release(),
      () => false,
    );
  await until('the hasty one is connected', taken);
}

/** A lease of the hasty client, whose asks may take too long. */
function heldHastily(options: AcquireOptions = {}): Promise<BaseLease> {
  const acquire = () => hasty.acquire('k', options).catch(() => undefined);
  return until('it is held', acquire);
}

/** Everything that may still happen has happened, and nothing is left. */
async function nothingComes(): Promise<void> {
  await nothingLeft();
  await new Promise((resolve) => setTimeout(resolve, TIMEOUT + 100)); // a zombie would come now
  await nothingLeft();
}

/** No lock and no entry is left. */
async function nothingLeft(): Promise<void> {
  await until('the clients are idle', () => client.idle && hasty.idle);
  expect(await observer.traces()).toEqual([]);
}

/** How long `call` took to settle, and how. */
async function outcome<T>(call: Promise<T>): Promise<Outcome<T>> {
  const started = performance.now();
  return call.then(
    (value) => ({ took: performance.now() - started, value }),
    (error: unknown) => ({ took: performance.now() - started, error }),
  );
}

interface Outcome<T> {
  readonly took: number;
  readonly value?: T;
  readonly error?: unknown;
}

/** From here on no script is sent twice because the server did not know it. */
async function loadScripts(): Promise<void> {
  const first = new LockProcess({ redis: redis.url });
  const lease = await first.acquire('k');
  await lease.extend();
  await expect(first.acquire('k', { wait: 1 })).rejects.toBeInstanceOf(LockNotAcquiredError);
  await until('the entry is left', async () => (await observer.waiting('k')) === 0);
  await lease.release();
  await first.close();
}
