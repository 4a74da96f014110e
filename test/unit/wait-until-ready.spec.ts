import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis, type RedisOptions } from 'ioredis';
import { getEventListeners } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LockOptionsError, LockStoreError } from '../../lib/engine/errors/index.js';
import { waitUntilReady, type Start } from '../../lib/engine/redis/wait-until-ready.js';
import { moduleSettings } from '../../lib/engine/options/index.js';
import { openConnection } from '../../lib/engine/redis/open-connection.js';
import { RedisConnection } from '../../lib/engine/redis/redis-connection.js';
import { ManualClock } from '../../lib/memory/testing/index.js';
import { FakeRedis } from '../support/fake-redis.js';
import { until } from '../support/until.js';
import { SilentServer } from './silent-server.js';

let server: SilentServer;
let clock: ManualClock;
let connection: RedisConnection;
/** What was told while nothing was ready. */
let told: string[];

beforeEach(async () => {
  told = [];
  server = await SilentServer.start();
  clock = new ManualClock();
  const client = new Redis({ host: '127.0.0.1', port: server.port, lazyConnect: true });
  connection = new RedisConnection(client, 500, clock);
});

afterEach(() => {
  connection.close();
  server.close();
});

describe('a server that accepts a connection and says nothing', () => {
  it('is named as such while it is waited for, and to the end', async () => {
    const { made } = await connecting();
    await clock.advance(499);
    expect(server.sockets).toHaveLength(1);
    await asked();
    await until('it was heard', async () => {
      await clock.advance(100);
      return told.length > 0;
    });
    expect(told[0]).toMatch(/127\.0\.0\.1.*it accepts connections and says nothing/);
    connection.client.emit('error', new Error('read ECONNRESET')); // tells less
    expect(told.at(-1)).toBe(told[0]);
    await clock.advance(5_000);
    await expect(made).rejects.toThrow(
      / within 5000 ms \(option "connectTimeout"\): it accepts connections and says nothing/,
    );
    expect(clock.pending).toBe(0);
  });

  it('is waited for as long as option connectTimeout says', async () => {
    connection = new RedisConnection(connection.client, 500, clock, 1_200);
    const { made } = await connecting();
    let over = false;
    made.catch(() => (over = true));
    await clock.advance(1_199);
    expect(over).toBe(false);
    await clock.advance(1);
    await expect(made).rejects.toThrow(/ could not be used within 1200 ms /);
  });

  it('is asked again and again, so that what it says later counts, at once', async () => {
    const { made } = await connecting();
    await asked();
    await until('it was heard', async () => {
      await clock.advance(100);
      return told.length > 0;
    });
    server.answer = '-DENIED Redis is running in protected mode\r\n';
    let over = false;
    made.catch(() => (over = true));
    await until('it is heard', async () => {
      if (clock.monotonic() < 4_500) await clock.advance(100);
      return over;
    });
    await expect(made).rejects.toThrow(/it is in protected mode/);
    expect(clock.monotonic()).toBeLessThan(5_000);
    expect(clock.pending).toBe(0);
  });

  it('is not waited for any more when we close the connection', async () => {
    const { made } = await connecting();
    connection.close();
    await expect(made).rejects.toThrow(/could not be used/);
    expect(clock.pending).toBe(0);
  });
});

it('a server whose port is none cannot be used, and no error reaches the process', async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', note);
  try {
    const nowhere = openConnection({ host: 'a', port: NaN }, 500, clock);
    const made = waitUntilReady(nowhere);
    made.catch(() => {});
    await clock.advance(6_000);
    nowhere.close();
    await expect(made).rejects.toThrow(/Redis at a:NaN\/0 could not be used/);
    await nextTurn();
  } finally {
    process.off('unhandledRejection', note);
  }
  expect(unhandled).toEqual([]);
});

it.each([
  [undefined, ' (the default: option "redis" is not set)'],
  ['redis://127.0.0.1:6379', ''],
])('a server that was given as %s is named so', async (redis, told) => {
  const source = moduleSettings({ redis }).redis as RedisOptions;
  const defaulted = openConnection(source, 500, clock);
  const made = waitUntilReady(defaulted);
  defaulted.close();
  await expect(made).rejects.toThrow(`Redis at 127.0.0.1:6379/0${told} could not be used`);
});

describe('a connection that is there', () => {
  let redis: FakeRedis;
  let fake: RedisConnection;
  const ready = (check: () => Promise<void>): Promise<void> => {
    redis = new FakeRedis();
    redis.status = 'wait';
    const failed = (message: string): void => void told.push(message);
    fake = new RedisConnection(redis.client, 500, clock);
    return waitUntilReady(fake, { check, failed });
  };

  it('can be used when the check says so, and nothing waits any more', async () => {
    let checked = (): void => {};
    const made = ready(() => new Promise<void>((done) => (checked = done)));
    await clock.advance(100);
    redis.emit('error', new Error('read ECONNRESET'));
    checked();
    await made;
    expect(told).toEqual([expect.stringContaining('the connection to Redis failed')]);
    expect([clock.pending, redis.disconnects]).toEqual([0, []]);
    expect(redis.listenerCount('error')).toBe(0);
    expect(getEventListeners(fake.closed, 'abort')).toEqual([]);
  });

  it('is left alone where the check says that asking again cannot help', async () => {
    await expect(ready(() => Promise.reject(new LockOptionsError('No such.')))).rejects.toThrow(
      'No such.',
    );
    expect([told, clock.pending, redis.disconnects]).toEqual([['No such.'], 0, []]);
  });

  it('is made anew where asking again may help', async () => {
    let checks = 0;
    const made = ready(async () => {
      if ((checks += 1) === 1) throw new LockStoreError('It is a replica.');
    });
    await clock.advance(100);
    expect([checks, redis.disconnects]).toEqual([1, [true]]);
    redis.come();
    await made;
    expect([checks, redis.disconnects, clock.pending]).toEqual([2, [true], 0]);
    expect(told).toEqual([expect.stringContaining('It is a replica')]);
  });
});

/** Begins to connect, and resolves when the server has accepted it. */
async function connecting(start: Start = {}): Promise<{ made: Promise<void> }> {
  const failed = (message: string): void => void told.push(message);
  const made = waitUntilReady(connection, { failed, ...start });
  made.catch(() => {});
  await until('it is accepted', () => server.sockets.length > 0);
  return { made };
}

/** Lets so much time pass that a server which says nothing is asked what it is, and hears its answer or its silence. */
async function asked(): Promise<void> {
  const before = server.sockets.length;
  await clock.advance(500);
  await until('it is asked', () => server.sockets.length > before);
}
