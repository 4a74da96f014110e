import { expect, it } from '@jest/globals';
import { ClusterInbox } from '../../lib/engine/redis/cluster/cluster-inbox.js';
import { ForeignChannels } from '../../lib/engine/redis/foreign-channels.js';
import { Inbox } from '../../lib/engine/redis/inbox.js';
import type { ServerListener } from '../../lib/engine/redis/lock-server.js';
import { RedisConnection } from '../../lib/engine/redis/redis-connection.js';
import { ManualClock } from '../../lib/memory/testing/index.js';
import { FakeRedis, replyError } from '../support/fake-redis.js';

const clock = new ManualClock();
let isRefused = false;
let made: FakeRedis[] = [];
/** The nodes that were connected to. */
let asked: string[] = [];

it('an inbox that every node refuses is tried ever less often, until one lets it in', async () => {
  let back = 0;
  const inbox = inboxOf({ reconnected: () => (back += 1) }, ['a:1']);
  await inbox.open();
  const [subscriber] = made;
  for (let times = 0; times < 2; times += 1) {
    isRefused = true;
    (made.at(-1) ?? subscriber)!.go();
    // After pauses of 50 to 150, 100 to 200 and 200 to 300 ms; the next is 400 to 500.
    expect(await within(700)).toBe(3);
    await within(5_000);
    expect(await within(10_000)).toBeLessThan(15);
    isRefused = false;
    expect(await within(2_000)).toBe(1);
    expect(back).toBe(times + 1);
  }
  inbox.close();
  expect(clock.pending).toBe(0);
});

it('an inbox whose node is lost is at another one next, and at that one only where no other lets it in', async () => {
  for (let times = 0; times < 10; times += 1) {
    [made, asked] = [[], []];
    const inbox = inboxOf({ reconnected() {} }, ['a:1', 'b:2', 'c:3']);
    await inbox.open();
    const [first] = asked;
    isRefused = true;
    made[0]!.go();
    await clock.advance(0);
    isRefused = false;
    expect(asked).toHaveLength(4);
    expect(asked.lastIndexOf(first!)).toBe(3);
    inbox.close();
  }
});

it('an inbox that is closed while it is at another node comes back to nobody', async () => {
  [made, asked] = [[], []];
  let back = 0;
  const inbox = inboxOf({ reconnected: () => (back += 1) }, ['a:1', 'b:2']);
  await inbox.open();
  made[0]!.go();
  inbox.close();
  await clock.advance(1_000);
  expect([back, clock.pending]).toEqual([0, 0]);
});

it('an inbox that is closed while it is being opened is tried at no further node', async () => {
  [made, asked, isRefused] = [[], [], true];
  const inbox = inboxOf({ reconnected() {} }, ['a:1', 'b:2', 'c:3']);
  const opening = inbox.open();
  inbox.close();
  await opening;
  isRefused = false;
  expect([asked.length, clock.pending]).toEqual([1, 0]);
});

/** The inbox of a process, at any of these nodes. */
function inboxOf(listener: object, addresses: readonly string[]): ClusterInbox {
  const heard = listener as ServerListener;
  const inboxAt = (address: string): Inbox =>
    new Inbox(connect(address), 'i', heard, new ForeignChannels(clock), async () => {});
  return new ClusterInbox(heard, clock, inboxAt, () => addresses);
}

function connect(address: string): RedisConnection {
  const redis = new FakeRedis(() => 1);
  redis.status = 'wait';
  redis.connect = async () => {
    if (isRefused) redis.emit('error', replyError('WRONGPASS invalid'));
    else redis.come();
  };
  made.push(redis);
  asked.push(address);
  return new RedisConnection(redis.client, 500, clock);
}

/** How often it connected in so many ms. */
async function within(ms: number): Promise<number> {
  made = [];
  await clock.advance(ms);
  return made.length;
}
