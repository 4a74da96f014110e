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

function connect(): RedisConnection {
  const redis = new FakeRedis(() => 1);
  redis.status = 'wait';
  redis.connect = async () => {
    if (isRefused) redis.emit('error', replyError('WRONGPASS invalid'));
    else redis.come();
  };
  made.push(redis);
  return new RedisConnection(redis.client, 500, clock);
}

/** How often it connected in so many ms. */
async function within(ms: number): Promise<number> {
  made = [];
  await clock.advance(ms);
  return made.length;
}

it('an inbox that every node refuses is tried ever less often, until one lets it in', async () => {
  let back = 0;
  const listener = { reconnected: () => (back += 1) } as unknown as ServerListener;
  const inboxAt = (): Inbox =>
    new Inbox(connect(), 'i', listener, new ForeignChannels(clock), async () => {});
  const inbox = new ClusterInbox(listener, clock, inboxAt, () => ['a:1']);
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
