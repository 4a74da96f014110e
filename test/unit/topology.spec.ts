import { beforeEach, describe, expect, it } from '@jest/globals';
import type { ClusterSource } from '../../lib/engine/redis/cluster/cluster-source.js';
import { Topology } from '../../lib/engine/redis/cluster/topology.js';
import { ManualClock } from '../../lib/memory/testing/index.js';
import { MovingSlots } from './moving-slots.js';

let clock: ManualClock;
let cluster: MovingSlots;
let topology: Topology;
let changes: number;

beforeEach(async () => {
  [clock, cluster, changes] = [new ManualClock(), new MovingSlots(), 0];
  const mapped = (address: string): string => address;
  const source = { seeds: ['a:1'], mapped } as unknown as ClusterSource;
  topology = new Topology(source, cluster.nodes, clock, () => (changes += 1));
  await topology.find();
});

describe('which node has a slot', () => {
  it('is asked outside of the request that met the change', async () => {
    await cluster.requests.run('a request', async () => {
      topology.refresh();
      await clock.advance(0);
    });
    expect(cluster.asked).toBe(2);
    expect(cluster.askedIn).toBeUndefined();
  });

  it('is asked anew, and told where it has changed', async () => {
    cluster.slots = [
      [0, 99, ['a', 1]],
      [100, 16_383, ['b', 2]],
    ];
    cluster.ready.add('b:2');
    topology.refresh();
    await clock.advance(0);
    expect([topology.map.owner(99), topology.map.owner(100), changes]).toEqual(['a:1', 'b:2', 1]);
    topology.refresh();
    await clock.advance(0);
    expect([cluster.asked, changes]).toEqual([3, 1]);
    await clock.advance(1_000);
    expect(clock.pending).toBe(0);
  });

  it('is asked again and again until each has a node that answers', async () => {
    cluster.slots = [
      [0, 99, ['a', 1]],
      [100, 16_383, ['b', 2]],
    ];
    topology.refresh();
    await clock.advance(1_000);
    const before = cluster.asked;
    expect(before).toBeGreaterThan(2);
    await clock.advance(1_000);
    expect(cluster.asked).toBeGreaterThan(before);
    cluster.ready.add('b:2');
    await clock.advance(200);
    const last = cluster.asked;
    await clock.advance(1_000);
    expect([cluster.asked, clock.pending]).toEqual([last, 0]);
  });

  it('is asked ever less often while one does not answer, until there is news', async () => {
    cluster.slots = [
      [0, 99, ['a', 1]],
      [100, 16_383, ['b', 2]],
    ];
    const within = async (ms: number): Promise<number> => {
      const before = cluster.asked;
      await clock.advance(ms);
      return cluster.asked - before;
    };
    topology.refresh();
    await clock.advance(60_000);
    expect(await within(10_000)).toBeLessThan(15);
    topology.move(0, 'a:1');
    expect(await within(1_000)).toBeGreaterThan(6);
    topology.close();
  });

  it('is asked again while some slot has no node, ever less often, until each has one', async () => {
    cluster.slots = [[0, 99, ['a', 1]]];
    topology.refresh();
    await clock.advance(60_000);
    expect([topology.map.owner(99), topology.map.owner(100)]).toEqual(['a:1', undefined]);
    const before = cluster.asked;
    await clock.advance(10_000);
    expect(cluster.asked - before).toBeLessThan(15);
    cluster.slots = [[0, 16_383, ['a', 1]]];
    await clock.advance(1_000);
    expect([topology.map.owner(100), changes, clock.pending]).toEqual(['a:1', 2, 0]);
  });

  it('is asked at a seed where the only node that answers serves it no more, once per 100 ms', async () => {
    topology.doubt('a:1');
    for (let times = 0; times < 10; times += 1) {
      topology.doubt('a:1');
      await clock.advance(20);
    }
    expect(cluster.asked).toBe(1 + 2);
    await clock.advance(1_000);
    expect([cluster.asked, clock.pending]).toEqual([3, 0]);
  });

  it('is asked no more once it is closed', async () => {
    cluster.ready.clear();
    topology.refresh();
    await clock.advance(0);
    topology.close();
    const before = cluster.asked;
    topology.refresh();
    await clock.advance(1_000);
    expect([cluster.asked, clock.pending]).toEqual([before, 0]);
  });
});
