import { beforeEach, describe, expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RedisConnection } from '../../lib/engine/redis/index.js';
import { ForeignChannels } from '../../lib/engine/redis/foreign-channels.js';
import { Inbox } from '../../lib/engine/redis/inbox.js';
import { RedisConnection as Connection } from '../../lib/engine/redis/redis-connection.js';
import { ManualClock } from '../../lib/memory/testing/index.js';
import { FakeRedis, replyError } from '../support/fake-redis.js';

let clock: ManualClock;
let redis: FakeRedis;
let connection: RedisConnection;
let wakes: ForeignChannels;
let told: number;

beforeEach(() => {
  clock = new ManualClock();
  redis = new FakeRedis(() => 1);
  connection = new Connection(redis.client, 500, clock);
  wakes = new ForeignChannels(clock);
  told = 0;
});

function listen(channel = 'c'): number {
  return wakes.listen(channel, () => (told += 1));
}

/** What was sent since this was asked last. */
function sent(): string[] {
  return redis.sent.splice(0).map(({ name, args }) => [name, ...args].join(' '));
}

describe('a channel of another service', () => {
  it('counts as silent from the moment it is heard', async () => {
    await wakes.connected(connection);
    expect(listen()).toBe(Infinity);
    await nextTurn();
    expect(sent()).toEqual(['subscribe c']);
    await clock.advance(10);
    expect(listen()).toBe(0);
    expect(sent()).toEqual([]);
  });

  it('tells who listens, and was silent since', async () => {
    await wakes.connected(connection);
    listen();
    await clock.advance(25);
    wakes.message('c', '');
    wakes.message('another', '');
    expect(told).toBe(1);
    expect(listen()).toBe(25);
  });

  it('that was wanted before there was a connection is heard as soon as there is one', async () => {
    expect(listen()).toBe(Infinity);
    await clock.advance(5);
    await wakes.connected(connection);
    expect(sent()).toEqual(['subscribe c']);
    expect(listen()).toBe(5);
  });

  it('is not heard while the connection is away, and anew on the next one', async () => {
    await wakes.connected(connection);
    listen();
    await clock.advance(10);
    wakes.disconnected(connection);
    expect(listen()).toBe(Infinity);
    listen('later');
    expect(sent()).toEqual(['subscribe c']);
    await clock.advance(10);
    await wakes.connected(connection);
    expect(sent()).toEqual(['subscribe c', 'subscribe later']);
    expect([listen(), listen('later')]).toEqual([20, 20]);
  });

  it('is heard on, when it is another connection that is gone', async () => {
    const former = new Connection(new FakeRedis(() => 1).client, 500, clock);
    await wakes.connected(former);
    await wakes.connected(connection);
    listen();
    await nextTurn();
    wakes.disconnected(former);
    expect(listen()).toBe(0);
  });

  it('to which Redis refuses to listen is not heard, and not asked for again on this connection', async () => {
    redis.says = () => replyError('NOPERM no');
    await wakes.connected(connection);
    listen();
    await nextTurn();
    expect(listen()).toBe(Infinity);
    expect(sent()).toEqual(['subscribe c']);
    redis.says = () => 1;
    await wakes.connected(connection);
    expect(listen()).toBe(0);
  });

  it('that is wanted on is heard on; nobody having wanted it for 3 s, it is left within 6 s', async () => {
    await wakes.connected(connection);
    listen();
    for (let at = 0; at < 10; at += 1) {
      await clock.advance(1_000);
      listen();
    }
    expect(sent()).toEqual(['subscribe c']);
    await clock.advance(2_999);
    expect(sent()).toEqual([]);
    await clock.advance(3_001);
    expect(sent()).toEqual(['unsubscribe c']);
    expect(clock.pending).toBe(0);
    expect(listen()).toBe(Infinity);
    expect(sent()).toEqual(['subscribe c']);
  });

  it('is one of 1,000 at most', async () => {
    await wakes.connected(connection);
    for (let nth = 0; nth < 1_000; nth += 1) listen(`c${nth}`);
    await nextTurn();
    sent();
    expect(listen('one more')).toBe(Infinity);
    expect(sent()).toEqual([]);
    expect(listen('c999')).toBe(0);
  });

  it('leaves no timer when all is over', async () => {
    await wakes.connected(connection);
    listen();
    await nextTurn();
    wakes.close();
    connection.close();
    expect(clock.pending).toBe(0);
    wakes.message('c', '');
    expect(told).toBe(0);
  });
});

describe('the inbox', () => {
  let heard: string[];
  let channel: Inbox;
  let publish: () => Promise<unknown>;
  beforeEach(async () => {
    heard = [];
    publish = async () => {};
    channel = new Inbox(
      connection,
      'inbox:me',
      {
        message: (text) => heard.push(text),
        reconnected: () => heard.push('resubscribed'),
      },
      wakes,
      () => publish(),
    );
    await channel.open();
  });

  it('is heard before it counts as open, and what comes is told', () => {
    expect(sent()).toEqual(['subscribe inbox:me']);
    redis.emit('message', 'inbox:me', 'granted a b');
    expect(heard).toEqual(['granted a b']);
  });

  it('is connected anew where it does not hear itself, and not where nothing was said', async () => {
    const replaced = async (said: () => Promise<unknown>): Promise<boolean> => {
      publish = said;
      const doubted = channel.doubt();
      await clock.advance(500);
      await doubted;
      return redis.disconnects.length > 0;
    };
    expect(await replaced(() => Promise.reject(replyError('NOPERM no')))).toBe(false);
    expect(await replaced(() => new Promise(() => {}))).toBe(false);
    expect(await replaced(async () => 1)).toBe(true);
  });

  it('tells the channels of other services on, and hears nothing of them', async () => {
    listen();
    redis.emit('message', 'c', 'granted a b');
    expect([heard, told]).toEqual([[], 1]);
  });

  it('is subscribed to anew on each connection, with the channels of other services, before it says so', async () => {
    listen();
    await nextTurn();
    sent();
    redis.go();
    expect(listen()).toBe(Infinity);
    redis.says = () => undefined;
    redis.come();
    await nextTurn();
    expect([sent(), heard]).toEqual([['subscribe inbox:me'], []]);
    redis.go();
    redis.says = () => 1;
    redis.come();
    await nextTurn();
    expect(sent()).toEqual(['subscribe inbox:me', 'subscribe c']);
    expect(heard).toEqual(['resubscribed']);
    expect(listen()).toBeLessThan(Infinity);
  });

  it('that is refused is connected to anew', async () => {
    redis.go();
    redis.says = () => replyError('NOPERM no');
    redis.come();
    await nextTurn();
    expect([redis.disconnects, heard]).toEqual([[true], []]);
  });

  it('that is deaf is connected to anew, unless that is under way', () => {
    connection.replace();
    connection.replace(); // its socket has not ended yet
    expect(redis.disconnects).toEqual([true]);
    redis.go();
    connection.replace();
    expect(redis.disconnects).toEqual([true]);
    redis.come();
    connection.replace();
    expect(redis.disconnects).toEqual([true, true]);
  });
});
