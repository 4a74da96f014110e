import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Cluster, type Redis } from 'ioredis';
import { isLockError } from '../../lib/engine/errors/index.js';
import { slotOf, slotTagOf } from '../../lib/engine/redis/cluster/slot-map.js';
import { systemClock } from '../../lib/engine/options/index.js';
import type { RedisSource } from '../../lib/engine/options/index.js';
import { moduleSettings } from '../../lib/engine/options/index.js';
import { RedisLockStore } from '../../lib/engine/locks/lock/redis-lock-store.js';
import { ClusterProcess } from '../../tools/redis-cluster.js';
import { closeAll, closing } from '../support/closing.js';
import { controlOf } from '../support/control.js';
import { checkHistory, type Claimed, HistoryRecorder } from '../support/history.js';
import { SOON } from '../support/bounds.js';
import { monotonic } from '../support/monotonic.js';
import { StallingClock } from '../support/stalling-clock.js';
import { until } from '../support/until.js';
import { LockingProcess } from '../support/world.js';

const NODE_TIMEOUT = 1_500;
/** For a connection made anew it is some turns of the event loop, each of which a busy machine may delay by half a second. */
const COMMAND_TIMEOUT = 2_000;

let cluster: ClusterProcess;
let control: Redis[] = [];
beforeAll(async () => {
  cluster = await ClusterProcess.start({ replicas: 3, nodeTimeout: NODE_TIMEOUT });
  control = cluster.servers.map(({ url }) => controlOf(url));
});
afterAll(async () => {
  for (const client of control) client.disconnect();
  await cluster?.stop();
});
afterEach(closeAll);

it('a slot is the one that Redis computes', async () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', ':', '{', '}', '%', 'é', '𝄞') });
  const counts = fc.asyncProperty(text, async (name) => {
    expect(slotOf(name)).toBe(Number(await control[0]!.cluster('KEYSLOT', name)));
  });
  await fc.assert(counts, { numRuns: 1_000 });
});

describe('a Cluster', () => {
  it('is reached through a client of the application, of which nothing is used', async () => {
    const client = new Cluster(cluster.seeds, { lazyConnect: true });
    const process = await member(undefined, client);
    const keys = [0, 1, 2].map((at) => keyOf(at)).sort();
    const lease = await process.locks.acquire(keys, process.settings.call, undefined);
    expect(lease.held).toBe(true);
    await lease.extend(3_000);
    expect(await lease.release()).toBe(true);
    expect(client.status).toBe('wait');
  });

  it('passes a lock on between processes wherever their inboxes are', async () => {
    const recorder = new HistoryRecorder();
    const members = await Promise.all(Array.from({ length: 6 }, () => member(recorder)));
    const keys = [0, 1, 2].map((at) => keyOf(at));
    const from = performance.now();
    const turns = members.flatMap((process) =>
      keys.flatMap((key) =>
        Array.from({ length: 10 }, () => recorder.run(process, { key }, async () => {})),
      ),
    );
    await Promise.all(turns);
    checkHistory(recorder.history, { sections: 180 });
    // A push that nobody hears would cost each turn the polls of up to a second.
    expect(performance.now() - from).toBeLessThan(SOON);
  });

  it('goes on while a slot moves to another node', async () => {
    const recorder = new HistoryRecorder();
    const members = await Promise.all(Array.from({ length: 3 }, () => member(recorder)));
    const key = keyOf(0, 'moving');
    let over = false;
    const work = members.map(async (process) => {
      let turns = 0;
      while (!over) {
        await recorder.run(process, { key, wait: 5_000 }, async () => {});
        turns += 1;
      }
      return turns;
    });
    const settled = Promise.all(work);
    settled.catch(() => {});
    await until('the lock is busy', () => recorder.history.length > 50);
    for (const to of [1, 2, 0]) {
      await cluster.moveSlot(slotOf(`lock:${key}`), to);
      const { length } = recorder.history;
      await until('the lock goes on', () => recorder.history.length > length + 50);
    }
    over = true;
    expect(Math.min(...(await settled))).toBeGreaterThan(0);
    checkHistory(recorder.history);
  });

  it('counts the tokens of a slot on where the slot goes, also at a node whose clock is behind', async () => {
    const process = await member();
    const key = keyOf(0, 'counted');
    const slot = slotOf(`lock:${key}`);
    const fence = `lock:{${slotTagOf(`lock:${key}`)}}:fence`;
    expect(slotOf(fence)).toBe(slot);
    const grant = async (): Promise<number> => {
      const lease = await process.acquire({ key });
      await lease.release();
      return lease.fencingToken;
    };
    await grant();
    const ahead = (Date.now() + 3_600_000) * 1_000; // as the clock of the first node might have been
    await control[0]!.set(fence, String(ahead), 'PX', 86_400_000);
    let last = ahead;
    for (const to of [1, 2, 0]) {
      await cluster.moveSlot(slot, to);
      const token = await grant();
      expect(token).toBeGreaterThan(last);
      last = token;
    }
    expect(last).toBeLessThan(ahead + 1_000);
    await control[0]!.del(fence);
  });

  it.each([
    ['is killed', 'SIGKILL'],
    ['hangs', 'SIGSTOP'],
  ] as const)('when a primary %s, its waiters are served by its replica', async (_, signal) => {
    const lost = signal === 'SIGKILL' ? 0 : 1;
    const recorder = new HistoryRecorder();
    const members = await Promise.all(Array.from({ length: 3 }, () => member(recorder)));
    const [key, other] = [keyOf(lost, 'failing'), keyOf(2, 'staying')];
    let over = false;
    const turns = async (of: string): Promise<void> => {
      await Promise.all(
        members.map(async (process) => {
          while (!over) {
            try {
              await recorder.run(process, { key: of, wait: 10_000 }, pause);
            } catch (error) {
              if (!isLockError(error) || error.code === 'LOCK_SHUTDOWN') throw error;
            }
          }
        }),
      );
    };
    const work = Promise.all([turns(key), turns(other)]);
    work.catch(() => {});
    const count = (of: string): number => recorder.history.filter((c) => c.key === of).length;
    await until('both locks are busy', () => count(key) > 20 && count(other) > 20);
    const offset = async (of: RegExp): Promise<number> =>
      Number(of.exec(await control[lost]!.info('replication'))?.[1]);
    const written = await offset(/master_repl_offset:(\d+)/);
    await until('the replica has it', async () => (await offset(/offset=(\d+),/)) >= written);
    cluster.primaries[lost]!.signal(signal);
    const failed = { at: monotonic(), arrival: Date.now() * 1_000 };
    const replica = control[3 + lost]!;
    await until('the replica is promoted', () => isRole(replica, 'master'), 30_000);
    const [promoted, before, beside] = [monotonic(), count(key), count(other)];
    const served = (): readonly Claimed[] =>
      recorder.history.filter((c) => c.key === key && c.from > promoted);
    const all = (): boolean => new Set(served().map((c) => c.process)).size === members.length;
    await until('each of them has the lock', all);
    expect(served().at(-1)!.from - promoted).toBeLessThan(SOON);
    await until('the lock goes on', () => count(key) > before + 20);
    expect(count(other)).toBeGreaterThan(beside);
    // The old one comes back and is told that it is none any more.
    if (signal === 'SIGKILL') await cluster.primaries[lost]!.run();
    else cluster.primaries[lost]!.signal('SIGCONT');
    await until('the old one follows', () => isRole(control[lost]!, 'slave'), 30_000);
    const again = count(key);
    await until('the lock goes on', () => count(key) > again + 20);
    over = true;
    await work;
    // Exclusion and tokens always; an entry that was not replicated yet may be behind others for once.
    checkHistory(
      recorder.history.map((entry) =>
        entry.from > failed.at && entry.arrival! < failed.arrival
          ? { ...entry, arrival: undefined }
          : entry,
      ),
    );
  });
});

async function isRole(node: Redis, role: 'master' | 'slave'): Promise<boolean> {
  return (await node.info('replication').catch(() => '')).includes(`role:${role}`);
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 2));
}

async function member(
  recorder = new HistoryRecorder(),
  redis: RedisSource = { cluster: cluster.seeds },
): Promise<LockingProcess> {
  const settings = moduleSettings({ redis, ttl: 1_500, commandTimeout: COMMAND_TIMEOUT });
  const store = recorder.watch(new RedisLockStore(settings, systemClock));
  const process = new LockingProcess(store, settings, new StallingClock(systemClock), undefined);
  await process.locks.open();
  closing.push(() => process.locks.close());
  return process;
}

/** A key for each primary at the start. */
function keyOf(primary: number, name = 'k'): string {
  const [first, next] = cluster.slotsOf(primary);
  for (let n = 0; ; n += 1) {
    const slot = slotOf(`lock:${name}${n}`);
    if (slot >= first && slot < next) return `${name}${n}`;
  }
}
