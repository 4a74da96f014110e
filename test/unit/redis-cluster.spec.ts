import { beforeEach, describe, expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ClusterSource } from '../../lib/redis/cluster/cluster-source.js';
import { RedisCluster } from '../../lib/redis/cluster/redis-cluster.js';
import { RedisConnection } from '../../lib/redis/redis-connection.js';
import type { ServerListener } from '../../lib/redis/lock-server.js';
import { storeFailure } from '../../lib/redis/store-failure.js';
import { ManualClock } from '../../lib/testing/index.js';
import { FakeRedis } from '../support/fake-redis.js';

const INFO = 'redis_version:7.2.0\r\nredis_mode:cluster\r\nrole:master\r\n';

let clock: ManualClock;
let cluster: RedisCluster;

/** A node that has all slots, as far as it knows. */
function node(): FakeRedis {
  const redis = new FakeRedis((name) => {
    if (name === 'info') return INFO;
    if (name === 'evalsha') return 'OK';
    if (name === 'time' || name === 'eval') return ['2000', '250000'];
    if (name === 'subscribe' || name === 'publish') return 1;
    return name === 'cluster' ? [[0, 16_383, ['a', 1, 'id']]] : undefined;
  });
  redis.status = 'wait';
  return redis;
}

/** One that nobody connects to. */
function unreachable(): FakeRedis {
  const redis = node();
  redis.connect = async () => {};
  return redis;
}

beforeEach(async () => {
  clock = new ManualClock();
  const source = {
    seeds: ['a:1'],
    mapped: (address: string) => address,
    connection: (address: string) =>
      new RedisConnection((address === 'c:3' ? unreachable() : node()).client, 500, clock),
  };
  cluster = new RedisCluster(source as unknown as ClusterSource, 500, clock, 'i:', 'p');
  await cluster.open({ reconnected: () => {} } as ServerListener);
});

describe('a step that a node of a Cluster sends elsewhere', () => {
  const moved = storeFailure(new Error('MOVED 1 b:2'), 'k');

  it('is taken there while it is wanted', async () => {
    let taken = 0;
    const step = async (): Promise<number> => {
      if ((taken += 1) === 1) throw moved;
      return taken;
    };
    expect(await cluster.at('k', 'k', step, () => true)).toBe(2);
    await cluster.close();
  });

  it('fails within its time-out where that node cannot be reached, also the next one', async () => {
    const gone = storeFailure(new Error('MOVED 1 c:3'), 'k');
    const step = (): Promise<void> => Promise.reject(gone);
    for (let times = 0; times < 2; times += 1) {
      let failed: unknown;
      void cluster.at('k', 'k', step).catch((error: unknown) => (failed = error));
      await clock.advance(490);
      expect(failed).toBeUndefined();
      await clock.advance(10);
      await nextTurn();
      expect(failed).toMatchObject({ outcome: 'unsent', retryable: true, key: 'k' });
      expect(String(failed)).toContain('the node at c:3, to which its slot was moved');
    }
    await cluster.close();
  });

  it('is not sent there where its caller gave up', async () => {
    let taken = 0;
    const step = async (): Promise<void> => {
      if ((taken += 1) === 1) throw moved;
    };
    await expect(cluster.at('k', 'k', step, () => false)).rejects.toMatchObject({
      outcome: 'unsent',
      key: 'k',
    });
    expect(taken).toBe(1);
    await cluster.close();
  });
});
