import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { fencedRedis, LeaseLostError, StaleFencingTokenError } from '../../lib/index.js';
import type { Lease } from '../../lib/engine/client/leases/lease.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { BY_POLL } from '../support/bounds.js';
import { LockProcess } from '../support/lock-process.js';
import { Observer } from '../support/observer.js';
import { SteppedClock } from '../support/stepped-clock.js';
import { until } from '../support/until.js';
import { losses } from './ways-to-forget.js';

/** Renewed after a third of it, in ms. */
const TTL = 4_500;
const HOUR = 3_600_000;
/** How often a clock jumps and returns. */
const JUMPS = process.env['FULL'] ? 4 : 1;

const clock = SteppedClock.make();
let redis: RedisProcess;
let observer: Observer;
let clients: LockProcess[];
beforeEach(async () => {
  clock?.set(0);
  redis = await RedisProcess.start(clock ? { env: clock.env } : {});
  observer = new Observer(redis.url);
  clients = Array.from({ length: 3 }, () => new LockProcess({ redis: redis.url, ttl: TTL }));
  await Promise.all(clients.map((client) => client.locks.open()));
});
afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  observer.close();
  await redis.stop();
});

describe('when the server forgets everything', () => {
  for (const [name, lose] of Object.entries(losses)) {
    it(`by ${name}, the holder learns it, tokens go on rising and no waiter is lost`, async () => {
      const lease = await clients[0]!.acquire('k');
      const { tokens, order, all } = await queueUp();
      await lose(redis, observer.redis);
      await until('the holder knows', () => lease.signal.aborted);
      expect(['gone', 'taken']).toContain(lease.signal.reason.reason); // before its time was over
      expect(lease.held).toBe(false);
      expect(await lease.release()).toBe(false);
      await all;
      expect(tokens.every((token, at) => token > (tokens[at - 1] ?? lease.fencingToken))).toBe(
        true,
      );
      expect(new Set(order).size).toBe(6);
      await nothingLeft();
    });
  }

  it('a lock deleted behind everybody’s back goes to waiter after waiter of one process', async () => {
    const ttl = 30_000; // no renewal notices the loss before the next in line does
    await clients[0]!.acquire('k', { ttl });
    const waiting: Promise<Lease>[] = [];
    for (let place = 1; place <= 3; place += 1) {
      waiting.push(clients[1]!.acquire('k', { ttl }));
      await observer.queued('k', place);
    }
    for (const call of waiting) {
      await observer.redis.del('lock:k');
      const from = performance.now();
      await call;
      expect(performance.now() - from).toBeLessThan(BY_POLL);
    }
  });

  it('tokens rise over every loss', async () => {
    let last = 0;
    for (const lose of Object.values(losses).concat(Object.values(losses))) {
      const lease = await clients[0]!.acquire('k', { wait: 30_000 });
      expect(lease.fencingToken).toBeGreaterThan(last);
      last = lease.fencingToken;
      await lease.release();
      await lose(redis, observer.redis);
      await until('the client is connected', () => clients[0]!.store.ready);
    }
  });
});

it('a replica that is promoted counts tokens on from what it was sent, also if its clock is an hour behind', async () => {
  const replica = await RedisProcess.start();
  const there = new Redis(replica.url);
  const successor = new LockProcess({ redis: replica.url, ttl: TTL });
  try {
    await there.replicaof('127.0.0.1', redis.port);
    const ahead = (Date.now() + HOUR) * 1_000; // by the clock of the primary
    await observer.redis.set('lock:{}:fence', String(ahead), 'PX', 24 * HOUR);
    const lease = await clients[0]!.acquire('k');
    expect(lease.fencingToken).toBe(ahead + 1);
    const sent = async (): Promise<boolean> =>
      (await there.get('lock:{}:fence')) === String(ahead + 1) &&
      (await there.exists('lock:k')) === 1;
    await until('the replica has it', sent);
    await there.replicaof('NO', 'ONE');
    await successor.locks.open();
    const next = await successor.acquire('k', { wait: 30_000 });
    expect(next.fencingToken).toBe(ahead + 2);
    await next.release();
    await lease.release();
  } finally {
    await successor.close();
    there.disconnect();
    await replica.stop();
  }
});

it('a reader behind a replica that was promoted has no smaller token than a writer whose grant was lost', async () => {
  const replica = await RedisProcess.start();
  const there = new Redis(replica.url);
  const successor = new LockProcess({ redis: replica.url, ttl: TTL });
  try {
    await there.replicaof('127.0.0.1', redis.port);
    await (await clients[0]!.acquire('k')).release();
    const mark = 'lock:{}:fence';
    const sent = async (): Promise<boolean> =>
      (await there.get(mark)) === (await observer.redis.get(mark));
    await until('the replica has it', sent);
    await there.replicaof('NO', 'ONE');
    const lost = await clients[0]!.acquire('k');
    await lost.release();
    await successor.locks.open();
    const reader = await successor.acquire('k', { mode: 'shared', wait: 30_000 });
    expect(reader.fencingToken).toBeGreaterThanOrEqual(lost.fencingToken);
    await reader.release();
  } finally {
    await successor.close();
    there.disconnect();
    await replica.stop();
  }
});

it('SCRIPT FLUSH costs one script text, and nobody notices', async () => {
  const lease = await clients[0]!.acquire('k');
  const flushing = setInterval(() => void observer.redis.script('FLUSH'), 5);
  const { tokens, order, all } = await queueUp();
  const first = lease.expiresAt;
  await until('a renewal', () => lease.expiresAt > first);
  expect(await lease.release()).toBe(true);
  await all;
  clearInterval(flushing);
  expect(order).toEqual([0, 1, 2, 3, 4, 5]);
  expect(tokens).toEqual([...tokens].sort((a, b) => a - b));
  expect(lease.signal.aborted).toBe(false);
  expect(await observer.calls('eval')).toBeGreaterThan(0);
  await nothingLeft();
});

it.each([
  ['', '+@all'],
  [', for a user who may not run SCRIPT', '-script'],
])('SCRIPT FLUSH costs 500 sections at once a few script texts%s', async (_, rights) => {
  await observer.redis.call('ACL', 'SETUSER', 'some', 'on', '>p', '~*', '&*', '+@all', rights);
  const client = new LockProcess({ redis: redis.url.replace('//', '//some:p@'), ttl: 30_000 });
  clients.push(client);
  const sections = async (): Promise<void> => {
    const keys = Array.from({ length: 500 }, (_each, at) => `section:${at}`);
    await Promise.all(keys.map(async (key) => (await client.acquire(key)).release()));
  };
  await sections();
  await observer.redis.script('FLUSH');
  await observer.redis.config('RESETSTAT');
  await sections();
  // To take and to give back, each alone and with others.
  expect(await observer.calls('eval')).toBeLessThanOrEqual(4);
  const read = /total_net_input_bytes:(\d+)/.exec(await observer.redis.info('stats'))?.[1];
  expect(Number(read)).toBeLessThan(1_000_000);
});

/** Steps of a reader's lease that the server knows: of those sent at once, they pass whatever it has to be told first. */
async function makeKnown(step: 'release' | 'downgrade' | 'extend'): Promise<void> {
  const lease = await clients[0]!.acquire('other', {
    mode: step === 'downgrade' ? 'exclusive' : 'shared',
  });
  await observer.redis.script('FLUSH');
  await lease[step]();
}

it('SCRIPT FLUSH takes no lease from who becomes a reader before an extension is sent again', async () => {
  const lease = await clients[0]!.acquire('k');
  await makeKnown('downgrade');
  await Promise.all([lease.extend(), lease.downgrade()]);
  expect(lease.held).toBe(true);
  expect(await lease.release()).toBe(true);
});

it('SCRIPT FLUSH takes no lease from who is extended as a reader before it becomes one', async () => {
  const lease = await clients[0]!.acquire('k');
  await makeKnown('extend');
  await Promise.all([lease.downgrade(), lease.extend()]);
  expect(lease.held).toBe(true);
  expect(await lease.release()).toBe(true);
});

it('SCRIPT FLUSH leaves nothing of a lease that is given back before it becomes a reader’s', async () => {
  const lease = await clients[0]!.acquire('k');
  await makeKnown('release');
  const became = lease.downgrade();
  void lease.release();
  await expect(became).rejects.toThrow(LeaseLostError);
  await nothingLeft();
});

const onSteppedClock = clock ? describe : describe.skip;
if (!clock) {
  console.warn(
    'No gcc, or a redis-server without shared libraries: the tests of a stepped clock are skipped.',
  );
}

/** Resolves when the server counts by it: Valkey 9.1 looks at the clock a little later. */
async function setClock(offset: number): Promise<void> {
  const left = 100_000;
  clock!.set(offset);
  await until('the server counts by it', async () => {
    await observer.redis.set('probe', '', 'PXAT', Date.now() + offset + left);
    return Math.abs((await observer.redis.pttl('probe')) - left) < 2_000;
  });
  await observer.redis.del('probe');
}

onSteppedClock('when the clock of the server', () => {
  for (const [name, step] of [
    ['jumps ahead', HOUR],
    ['falls back', -HOUR],
    ['jumps by a little', 5_000],
    ['falls back by a little', -5_000],
  ] as const) {
    it(`${name} by ${step} ms and returns, tokens rise and no waiter is lost`, async () => {
      let last = 0;
      for (const offset of Array.from({ length: 2 * JUMPS }, (_, at) => (at % 2 ? 0 : step))) {
        const lease = await clients[0]!.acquire('k', { wait: 20_000 });
        expect(lease.fencingToken).toBeGreaterThan(last);
        const { tokens, order, all } = await queueUp();
        await setClock(offset);
        // A lease that outlived its key is known to be lost when it is renewed; one that did not is released.
        const kept = await lease.extend().then(
          () => true,
          (error: unknown) => {
            if (!(error instanceof LeaseLostError)) throw error;
            return false;
          },
        );
        expect(kept ? await lease.release() : !lease.held).toBe(true);
        await all;
        expect(tokens.every((token, at) => token > (tokens[at - 1] ?? lease.fencingToken))).toBe(
          true,
        );
        expect(new Set(order).size).toBe(6);
        last = tokens.at(-1)!;
      }
      await nothingLeft();
    });
  }

  it('falls back and its data is lost, tokens start at its clock: smaller, and refused, until that has caught up', async () => {
    const resource = await RedisProcess.start(); // where data is written: it loses nothing
    const store = new Redis(resource.url);
    try {
      for (const step of [-20_000, -60_000]) {
        const grant = async (): Promise<Lease> => {
          const lease = await clients[0]!.acquire('k', { wait: 20_000 });
          await lease.release();
          return lease;
        };
        clock!.set(0);
        await observer.redis.flushall();
        const before = await grant();
        await fencedRedis(store, before).set('balance', 1);
        clock!.set(step);
        const kept = await grant();
        expect(kept.fencingToken).toBe(before.fencingToken + 1); // it alone loses nothing
        await observer.redis.flushall();
        const after = await grant();
        expect(after.fencingToken).toBeLessThanOrEqual((Date.now() + step) * 1_000 + 1_000);
        expect(after.fencingToken).toBeLessThan(before.fencingToken);
        const write = fencedRedis(store, after).set('balance', 2);
        await expect(write).rejects.toBeInstanceOf(StaleFencingTokenError);
        clock!.set(0);
        const caughtUp = await grant();
        expect(caughtUp.fencingToken).toBeGreaterThan(kept.fencingToken);
        await fencedRedis(store, caughtUp).set('balance', 3);
      }
      expect(await store.get('balance')).toBe('3');
      await nothingLeft();
    } finally {
      store.disconnect();
      await resource.stop();
    }
  });

  it.each([
    ['a lock', {}],
    ['a reader’s lock', { mode: 'shared' }],
  ] as const)(
    'falls back, %s outlives a holder that was renewed since by no more than its ttl',
    async (_, how) => {
      clock!.set(0);
      const lease = await clients[0]!.acquire('k', how);
      await setClock(-HOUR);
      const first = lease.expiresAt;
      await until('a renewal', () => lease.expiresAt !== first);
      expect(lease.expiresAt).toBeLessThan(Date.now() + 2 * TTL);
      await clients[0]!.store.close(); // it dies
      const from = performance.now();
      const next = await clients[1]!.acquire('k', { wait: 30_000 });
      expect(performance.now() - from).toBeLessThan(TTL + BY_POLL);
      await next.release();
    },
  );

  it('falls back, a lease that its holder extended keeps what was asked for', async () => {
    clock!.set(0);
    const lease = await clients[0]!.acquire('k');
    await lease.extend(600_000);
    await setClock(-HOUR);
    const first = lease.expiresAt;
    await until('a renewal', () => lease.expiresAt !== first);
    const left = await observer.redis.pttl('lock:k');
    expect(left).toBeGreaterThan(500_000);
    expect(left).toBeLessThan(700_000);
    await lease.extend(900_000);
    expect(await observer.redis.pttl('lock:k')).toBeGreaterThan(800_000);
    expect(await lease.release()).toBe(true);
  });

  it('falls back and jumps ahead again, a holder still learns its loss in time', async () => {
    clock!.set(0);
    const lease = await clients[0]!.acquire('k');
    clock!.set(-HOUR);
    const first = lease.expiresAt;
    await until('a renewal', () => lease.expiresAt !== first);
    clock!.set(HOUR);
    await until('the key is gone', async () => (await observer.holder('k')) === null);
    await until('the holder knows', () => lease.signal.aborted);
    expect(lease.signal.reason).toMatchObject({ reason: 'gone' });
    await nothingLeft();
  });
});

/** Callers that queue one behind the other and hold the lock for a moment; their tokens in the order of entry. */
async function queueUp(): Promise<{ tokens: number[]; order: number[]; all: Promise<unknown> }> {
  const tokens: number[] = [];
  const order: number[] = [];
  const all: Promise<void>[] = [];
  for (let place = 0; place < 6; place += 1) {
    const call = clients[place % clients.length]!.acquire('k', { wait: 30_000 });
    all.push(
      call.then(async (lease) => {
        order.push(place);
        tokens.push(lease.fencingToken);
        await new Promise((resolve) => setTimeout(resolve, 20));
        await lease.release();
      }),
    );
    await observer.queued('k', place + 1);
  }
  return { tokens, order, all: Promise.all(all) };
}

async function nothingLeft(): Promise<void> {
  await until('all clients are idle', () => clients.every((client) => client.idle));
  expect(await observer.traces()).toEqual([]);
}
