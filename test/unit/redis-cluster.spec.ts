import { beforeEach, describe, expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ClusterSource } from '../../lib/engine/redis/cluster/cluster-source.js';
import { RedisCluster } from '../../lib/engine/redis/cluster/redis-cluster.js';
import { RedisConnection } from '../../lib/engine/redis/redis-connection.js';
import type { ServerListener } from '../../lib/engine/redis/lock-server.js';
import type { RedisNode, StepNode } from '../../lib/engine/redis/redis-node.js';
import { slotOf } from '../../lib/engine/redis/cluster/slot-map.js';
import { storeFailure } from '../../lib/engine/redis/store-failure.js';
import { ManualClock } from '../../lib/memory/testing/index.js';
import { FakeRedis, replyError } from '../support/fake-redis.js';

const INFO = 'redis_version:7.2.0\r\nredis_mode:cluster\r\nrole:master\r\n';

let clock: ManualClock;
let cluster: RedisCluster;

/** What a node says of who has which slot, by its address; else that a:1 has all. */
let slots: Record<string, unknown>;
/** Where each connection goes. */
let places: Map<unknown, string>;

function node(address: string): FakeRedis {
  const redis = new FakeRedis((name) => {
    if (name === 'info') return INFO;
    if (name === 'evalsha') return 'OK';
    if (name === 'time' || name === 'eval') return ['2000', '250000'];
    if (name === 'subscribe' || name === 'publish') return 1;
    return name === 'cluster' ? (slots[address] ?? [[0, 16_383, ['a', 1, 'id']]]) : undefined;
  });
  redis.status = 'wait';
  places.set(redis.client, address);
  return redis;
}

/** One that nobody connects to. */
function unreachable(address: string): FakeRedis {
  const redis = node(address);
  redis.connect = async () => {};
  return redis;
}

async function open(seeds = ['a:1']): Promise<void> {
  const source = {
    seeds,
    mapped: (address: string) => address,
    connection: (address: string) =>
      new RedisConnection(
        (address === 'c:3' ? unreachable(address) : node(address)).client,
        500,
        clock,
      ),
  };
  cluster = new RedisCluster(source as unknown as ClusterSource, 500, clock, 'i:', 'p');
  await cluster.open({ reconnected: () => {} } as ServerListener);
}

beforeEach(() => {
  clock = new ManualClock();
  slots = {};
  places = new Map();
});

describe('a step that a node of a Cluster sends elsewhere', () => {
  beforeEach(() => open());

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

describe('a named node that knows no slots', () => {
  beforeEach(() => {
    slots = { 'a:1': [], 'b:2': [[0, 16_383, ['b', 2]]] };
  });

  it('is said where no other answers', async () => {
    await expect(open()).rejects.toThrow(
      'The Cluster at a:1 could not be used: the node at a:1 knows no slots: create the Cluster first',
    );
  });

  it('is passed over where another knows them', async () => {
    await open(['a:1', 'b:2']);
    expect(cluster.describe().found).toContain('Cluster b:2');
    await cluster.close();
  });
});

describe('a node of a Cluster that serves a slot no more (CLUSTERDOWN)', () => {
  const down = replyError('CLUSTERDOWN Hash slot not served');
  const refused = (): Promise<never> => Promise.reject(storeFailure(down, 'k'));
  const at = async (node: StepNode): Promise<unknown> =>
    places.get((node as RedisNode).connection.client);
  let key = '';
  for (let n = 0; !key; n += 1) if (slotOf(`${n}`) < 100) key = `${n}`;
  const both = [
    [0, 99, ['a', 1]],
    [100, 16_383, ['b', 2]],
  ];

  beforeEach(async () => {
    slots = { 'a:1': both, 'b:2': both };
    await open();
    await clock.advance(0);
  });

  it.each([
    ['forgot all of them', []],
    ['says that it has them', both],
  ])('is left for the one that the others name, where it %s', async (_, said) => {
    expect(await cluster.at(key, 'k', at)).toBe('a:1');
    slots = { 'a:1': said, 'b:2': [[0, 16_383, ['b', 2]]] };
    await expect(cluster.at(key, 'k', refused)).rejects.toThrow('CLUSTERDOWN');
    await clock.advance(200);
    expect(await cluster.at(key, 'k', at)).toBe('b:2');
    await cluster.close();
  });
});
