import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { RedisLockStore } from '../../lib/locks/lock/redis-lock-store.js';
import { moduleSettings, READER, type Share, systemClock } from '../../lib/options/index.js';
import { slotOf } from '../../lib/redis/cluster/slot.js';
import { ClusterProcess } from '../../tools/redis-cluster.js';
import { monotonic } from '../support/monotonic.js';
import { StallingClock } from '../support/stalling-clock.js';
import { until } from '../support/until.js';
import { LockingProcess } from '../support/world.js';

const TTL = 60_000;
const COMMAND_TIMEOUT = 5_000;

let cluster: ClusterProcess;
let control: Redis[];
let closing: (() => Promise<unknown>)[];
let keys = 0;
beforeAll(async () => {
  cluster = await ClusterProcess.start();
  control = cluster.primaries.map(({ url }) => new Redis(url));
});
afterAll(async () => {
  for (const client of control) client.disconnect();
  await cluster?.stop();
});
beforeEach(() => {
  closing = [];
  keys += 1;
});
afterEach(async () => {
  await Promise.all(closing.map((close) => close()));
});

async function member(): Promise<LockingProcess> {
  const redis = { cluster: cluster.seeds };
  const settings = moduleSettings({ redis, ttl: TTL, commandTimeout: COMMAND_TIMEOUT });
  const clock = new StallingClock(systemClock);
  const process = new LockingProcess(
    new RedisLockStore(settings, clock),
    settings,
    clock,
    undefined,
  );
  await process.leases.open();
  closing.push(() => process.leases.close());
  return process;
}

const permits = (count: number): Share => ({ permits: 2, count });

const rows: Readonly<Record<string, { first?: Share; next?: Share; minHold?: number }>> = {
  'a lock that is held alone': {},
  'the last reader, and a writer waits': { first: READER },
  'a writer, and a reader waits': { next: READER },
  'the only permits, and others wait for them': { first: permits(2), next: permits(2) },
  'the last reader, after a minimum hold': { first: READER, minHold: 200 },
};

/** How many scripts the nodes were asked to run, or refused to because the slot moves. */
async function scriptsAsked(): Promise<number> {
  const infos = await Promise.all(control.map((node) => node.info('commandstats')));
  return infos
    .flatMap((info) => [
      ...info.matchAll(/cmdstat_evalsha:calls=(\d+),.*rejected_calls=(\d+),failed/g),
    ])
    .reduce((sum, [, calls, rejected]) => sum + Number(calls) + Number(rejected), 0);
}

it.each(Object.entries(rows))(
  'while its slot moves, %s is given back: who waits comes in soon after',
  async (_, { first, next, minHold }) => {
    const [a, b] = [await member(), await member()];
    const key = `moving${keys}`;
    await (await a.acquire({ key })).release(); // from now on the lock has all its keys but those of its holders
    const held = await a.acquire({
      key,
      ...(first && { share: first }),
      ...(minHold && { minHold }),
    });
    const waiting = b.acquire({ key, ...(next && { share: next }), wait: TTL });
    waiting.catch(() => {});
    const observer = await member();
    const waits = async (): Promise<boolean> =>
      (await observer.store.lock.inspect(key, 1)).waiting === 1;
    await until('the next one waits', waits);

    const finish = await cluster.beginMove(slotOf(`lock:${key}`));
    const before = await scriptsAsked();
    const released = held.release();
    await until('the release came to a node', async () => (await scriptsAsked()) > before);
    await finish();
    const over = monotonic();
    expect(await released).toBe(true);
    const lease = await waiting;
    expect(monotonic() - over).toBeLessThan(COMMAND_TIMEOUT);
    expect(lease.held).toBe(true);
    expect(await lease.release()).toBe(true);
  },
);
