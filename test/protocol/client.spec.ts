import { afterAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { LockNotAcquiredError } from '../../lib/index.js';
import { Crowd } from '../dialects/crowd.js';
import { Sides } from '../dialects/sides.js';
import { RedisProcess } from '../../tools/redis-server.js';
import type { LockProcess } from '../support/lock-process.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { SteppedClock } from '../support/stepped-clock.js';
import { until } from '../support/until.js';
import { languages, type WrittenClient } from './written-clients.js';

/** A lease that outlasts what the machine may have to do, in ms. */
const TTL = 30_000;
/** How long somebody waits who comes in at last, in ms. */
const WAIT = 50_000;
const name = 'k';

// Skipped by name, with what is missing.
for (const { missing } of languages) {
  // oxlint-disable-next-line jest/no-disabled-tests
  if (missing !== undefined) it.skip(`${missing}`, () => {});
}

const clock = SteppedClock.make();
afterAll(() => clock?.remove());
/** Skipped without gcc, or where the server has the C library inside. */
const onSteppedClock = clock ? describe : describe.skip;

const here = languages.filter(({ missing }) => missing === undefined);

describe.each(here)('a client in $name that was written from the page', ({ connect }) => {
  const sides = new Sides();
  const ours = (fairness: 'local' | 'strict' = 'strict'): LockProcess => sides.client({ fairness });
  const theirs = async (): Promise<WrittenClient> =>
    sides.closing(await connect(sides.redis.url), (one) => one.close());
  /** Whose id stands at the lock. */
  const holder = async (): Promise<string> => (await sides.theirs.get(`lock:${name}`)) ?? '';

  it('excludes us while it holds the lock', async () => {
    const [us, them] = [ours(), await theirs()];
    expect(await them.acquire(name, TTL, 0)).toBeGreaterThan(0);
    await expect(us.acquire(name, { wait: 0 })).rejects.toThrow(LockNotAcquiredError);
    expect(await them.release(name)).toBe(true);
    expect((await us.acquire(name, { wait: 0 })).held).toBe(true);
  });

  it('is excluded by us, and leaves no entry when it gives up', async () => {
    const [us, them] = [ours(), await theirs()];
    await us.acquire(name, { ttl: TTL });
    expect(await them.acquire(name, TTL, 0)).toBeNull();
    expect(await them.acquire(name, TTL, 300)).toBeNull();
    await waiting(0);
  });

  it('is handed the lock by our release, with a larger token, and renews its first lease', async () => {
    const [us, them] = [ours(), await theirs()];
    const lease = await us.acquire(name, { ttl: TTL });
    const had = them.acquire(name, TTL, WAIT);
    await waiting(1);
    await lease.release();
    expect(await holder()).toContain(`${them.process}/`);
    expect(await had).toBeGreaterThan(lease.toJSON().fencingToken!);
    const renewed = async (): Promise<boolean> =>
      (await sides.theirs.pttl(`lock:${name}`)) > 10_000;
    await until('its lease is longer than a first one', renewed);
    expect(await them.held(name)).toBe(true);
  });

  it('hands the lock on to us, with a larger token', async () => {
    const [us, them] = [ours(), await theirs()];
    const token = await them.acquire(name, TTL, 0);
    const waits = us.acquire(name, { ttl: TTL, wait: WAIT });
    await us.waiting(name);
    expect(await them.release(name)).toBe(true);
    expect(await holder()).toContain(`${us.store.processId}/`);
    expect((await waits).toJSON().fencingToken).toBeGreaterThan(token!);
  });

  it('queues in one order with us', async () => {
    const [us, them, others] = [ours(), await theirs(), ours()];
    const lease = await us.acquire(name, { ttl: TTL });
    const second = them.acquire(name, TTL, WAIT);
    await waiting(1);
    const third = others.acquire(name, { ttl: TTL, wait: WAIT });
    await waiting(2);
    await lease.release();
    await second;
    expect(await holder()).toContain(`${them.process}/`);
    await them.release(name);
    expect((await third).held).toBe(true);
  });

  it('knows that an operator took the lock', async () => {
    const [us, them] = [ours(), await theirs()];
    await them.acquire(name, TTL, 0);
    expect(await us.force(name)).toBe(true);
    await until('it knows', async () => !(await them.held(name)));
    expect(await them.release(name)).toBe(false);
  });

  it('takes no message for a grant', async () => {
    const [us, them] = [ours(), await theirs()];
    await us.acquire(name, { ttl: TTL });
    const had = them.acquire(name, TTL, 1_000);
    await waiting(1);
    const [entry] = await sides.theirs.zrange(`{lock:${name}}:queue`, '0', '0');
    await tell(them, await granted(entry!));
    expect(await had).toBeNull();
    expect(await holder()).toContain(`${us.store.processId}/`);
  });

  it('gives nothing back because of a message', async () => {
    const [us, them] = [ours(), await theirs()];
    const lease = await us.acquire(name, { ttl: TTL });
    await them.acquire('other', TTL, 0);
    await sides.theirs.pexpire('lock:other', 20_000);
    const [ourId, theirId] = [await idAt(name), await idAt('other')];
    await tell(them, await granted(`${ourId}/${TTL}/x1`));
    await tell(them, `forced ${theirId}`);
    await until('it has asked', async () => (await sides.theirs.pttl('lock:other')) > 20_000);
    expect(await them.held('other')).toBe(true);
    expect(await lease.release()).toBe(true);
  });

  it('asks again where an answer is lost, and has one lease', async () => {
    const [proxy, them] = await behindProxy();
    const cut = proxy.once(isAcquire, 'cut');
    expect(await them.acquire(name, TTL, WAIT)).toBeGreaterThan(0);
    await cut;
    expect(await holder()).toContain(`${them.process}/`);
    expect(await them.release(name)).toBe(true);
    await until('nobody holds it', async () => (await holder()) === '');
  });

  it('leaves nothing of an ask that Redis runs after it gave up', async () => {
    const us = ours();
    const [proxy, them] = await behindProxy();
    await us.acquire(name, { ttl: TTL });
    proxy.lateness = 1_000;
    const late = proxy.once(isAcquire, 'late');
    const had = them.acquire(name, TTL, 300);
    (await late).reset();
    expect(await had).toBeNull();
    expect(await proxy.lateAnswers[0]).toContain('queued');
    await waiting(0);
  });

  it('holds nothing after its time, though it stood still meanwhile', async () => {
    const [us, them] = [ours(), await theirs()];
    await them.acquire(name, 1_000, 0);
    them.signal('SIGSTOP');
    const lease = await us.acquire(name, { ttl: TTL, wait: WAIT });
    them.signal('SIGCONT');
    expect([await them.held(name), await them.release(name)]).toEqual([false, false]);
    expect(lease.held).toBe(true);
  });

  it('waits on when its connections end', async () => {
    const [us, them] = [ours(), await theirs()];
    const lease = await us.acquire(name, { ttl: TTL });
    const had = them.acquire(name, TTL, WAIT);
    await waiting(1);
    for (const type of ['pubsub', 'normal'])
      await sides.theirs.call('CLIENT', 'KILL', 'TYPE', type);
    const inbox = `lock:inbox:${them.process}`;
    await until('its inbox is heard', async () => {
      const [, listeners] = (await sides.theirs.pubsub('NUMSUB', inbox)) as unknown[];
      return listeners === 1;
    });
    await lease.release();
    expect(await had).toBeGreaterThan(0);
    expect(await them.release(name)).toBe(true);
  });

  it('connects its inbox anew until it is at the server that its commands reach', async () => {
    const us = ours();
    const [proxy, them] = await behindProxy();
    const inbox = `lock:inbox:${them.process}`;
    const other = sides.closing(await RedisProcess.start(), (one) => one.stop());
    let subscribed = 0;
    proxy.fate = ([word]) => {
      if (word === 'subscribe') subscribed += 1;
      return 'pass';
    };
    proxy.target = other.port;
    for (const link of proxy.links) if (link.subscriber) link.reset();
    await until('it has not believed the first one', () => subscribed > 1);
    proxy.target = sides.redis.port;
    const lease = await us.acquire(name, { ttl: TTL });
    const had = them.acquire(name, TTL, WAIT);
    await waiting(1);
    expect(await sides.listeners(inbox)).toBe(1);
    await lease.release();
    expect(await holder()).toContain(`${them.process}/`);
    expect(await had).toBeGreaterThan(0);
  });

  onSteppedClock('where the clock of the server was set back', () => {
    it('shortens what that put off', async () => {
      clock!.set(0);
      const server = await RedisProcess.start({ env: clock!.env });
      sides.closing(server, (one) => one.stop());
      const redis = sides.closing(new Redis(server.url), (one) => one.disconnect());
      const them = sides.closing(await connect(server.url), (one) => one.close());
      await them.acquire(name, 5_000, 0);
      clock!.set(-3_600_000);
      const left = (): Promise<number> => redis.pttl(`lock:${name}`);
      await until('it is put off', async () => (await left()) > 3_000_000);
      await until('it is shortened', async () => (await left()) <= 5_000);
      expect(await them.held(name)).toBe(true);
      expect(await them.release(name)).toBe(true);
    });
  });

  it('that is gone holds nobody up: its entry dies, and its lease ends', async () => {
    const [us, them, dead] = [ours(), await theirs(), await theirs()];
    const lease = await us.acquire(name, { ttl: TTL });
    const asked = dead.acquire(name, TTL, WAIT).catch(() => 'it ended');
    await waiting(1);
    const waits = them.acquire(name, 5_000, WAIT);
    await waiting(2);
    await dead.close();
    expect(await asked).toBe('it ended');
    await lease.release();
    expect(await waits).toBeGreaterThan(0);
    await them.close();
    expect((await us.acquire(name, { wait: WAIT })).held).toBe(true);
  });

  it.each(['strict', 'local'] as const)(
    'and we never hold the lock at the same time, three each, fairness %s',
    async (fairness) => {
      const us = [ours(fairness), ours(fairness), ours(fairness)];
      const them = await Promise.all([theirs(), theirs(), theirs()]);
      const crowd = new Crowd(sides.theirs, process.env['FULL'] ? 10_000 : 1_000, { lease: TTL });
      await Promise.all([
        ...us.map((client) => crowd.ours(client, name)),
        ...them.map((one) => {
          const acquire = async (lock: string, ttl: number): Promise<boolean> =>
            (await one.acquire(lock, ttl, WAIT)) !== null;
          return crowd.theirs({ ...one, acquire }, name);
        }),
      ]);
      await crowd.check();
      expect(us.every(({ idle }) => idle)).toBe(true);
    },
  );

  async function waiting(count: number): Promise<void> {
    await until(
      `${count} wait`,
      async () => (await sides.theirs.zcard(`{lock:${name}}:queue`)) === count,
    );
  }

  /** The holder id at a lock. */
  async function idAt(lock: string): Promise<string> {
    return (await sides.theirs.get(`lock:${lock}`))!.split('/', 2).join('/');
  }

  /** A message as of a grant to an entry, by whoever may publish. */
  async function granted(entry: string): Promise<string> {
    const [seconds, micros] = await sides.theirs.time();
    const now = `${seconds}${String(micros).padStart(6, '0')}`;
    return `granted ${entry} 3000 ${now} ${now} 1 0 - lock:${name}`;
  }

  /** Of all steps, it has the most operands. */
  function isAcquire(words: readonly string[]): boolean {
    return words[0] === 'evalsha' && words.includes(`{lock:${name}}:queue`) && words.length > 14;
  }

  /** One whose connections may fail, and whose scripts Redis knows. */
  async function behindProxy(): Promise<[FaultProxy, WrittenClient]> {
    const proxy = sides.closing(await FaultProxy.before(sides.redis.port), (one) => one.close());
    const them = sides.closing(await connect(proxy.url), (one) => one.close());
    await them.acquire(name, TTL, 0);
    await them.release(name);
    return [proxy, them];
  }

  function tell(to: WrittenClient, message: string): Promise<number> {
    return sides.theirs.publish(`lock:inbox:${to.process}`, message);
  }
});
