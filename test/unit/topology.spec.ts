import { beforeEach, describe, expect, it } from '@jest/globals';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { ClusterNodes } from '../../lib/engine/redis/cluster/cluster-nodes.js';
import type { ClusterSource } from '../../lib/engine/redis/cluster/cluster-source.js';
import { Topology } from '../../lib/engine/redis/cluster/topology.js';
import { ManualClock } from '../../lib/memory/testing/index.js';

/** The slots of each node, as CLUSTER SLOTS tells them. */
let slots: [first: number, last: number, primary: [host: string, port: number]][];
let asked: number;
const requests = new AsyncLocalStorage<string>();
let askedIn: string | undefined;
let changes: number;
let ready: Set<string>;
let clock: ManualClock;
let topology: Topology;

beforeEach(async () => {
  slots = [[0, 16_383, ['a', 1]]];
  [asked, changes] = [0, 0];
  ready = new Set(['a:1']);
  clock = new ManualClock();
  const node = {
    ready: true,
    connection: {
      async send() {
        asked += 1;
        askedIn = requests.getStore();
        return slots;
      },
    },
  };
  const nodes = {
    at: (address: string) => (ready.has(address) ? node : undefined),
    open: async () => node,
    keep() {},
  };
  const source = { seeds: ['a:1'], mapped: (address: string) => address };
  topology = new Topology(
    source as unknown as ClusterSource,
    nodes as unknown as ClusterNodes,
    clock,
    () => (changes += 1),
  );
  await topology.find();
});

describe('which node has a slot', () => {
  it('is asked outside of the request that met the change', async () => {
    await requests.run('a request', async () => {
      topology.refresh();
      await clock.advance(0);
    });
    expect(asked).toBe(2);
    expect(askedIn).toBeUndefined();
  });

  it('is asked anew, and told where it has changed', async () => {
    slots = [
      [0, 99, ['a', 1]],
      [100, 16_383, ['b', 2]],
    ];
    ready.add('b:2');
    topology.refresh();
    await clock.advance(0);
    expect([topology.map.owner(99), topology.map.owner(100), changes]).toEqual(['a:1', 'b:2', 1]);
    topology.refresh();
    await clock.advance(0);
    expect([asked, changes]).toEqual([3, 1]);
    await clock.advance(1_000);
    expect(clock.pending).toBe(0);
  });

  it('is asked again and again until each has a node that answers', async () => {
    slots = [
      [0, 99, ['a', 1]],
      [100, 16_383, ['b', 2]],
    ];
    topology.refresh();
    await clock.advance(1_000);
    const before = asked;
    expect(before).toBeGreaterThan(2);
    await clock.advance(1_000);
    expect(asked).toBeGreaterThan(before);
    ready.add('b:2');
    await clock.advance(200);
    const last = asked;
    await clock.advance(1_000);
    expect([asked, clock.pending]).toEqual([last, 0]);
  });

  it('is asked ever less often while one does not answer, until there is news', async () => {
    slots = [
      [0, 99, ['a', 1]],
      [100, 16_383, ['b', 2]],
    ];
    const within = async (ms: number): Promise<number> => {
      const before = asked;
      await clock.advance(ms);
      return asked - before;
    };
    topology.refresh();
    await clock.advance(60_000);
    expect(await within(10_000)).toBeLessThan(15);
    topology.move(0, 'a:1');
    expect(await within(1_000)).toBeGreaterThan(6);
    topology.close();
  });

  it('is asked at a seed where the only node that answers serves it no more, once per 100 ms', async () => {
    topology.doubt('a:1');
    for (let times = 0; times < 10; times += 1) {
      topology.doubt('a:1');
      await clock.advance(20);
    }
    expect(asked).toBe(1 + 2);
    await clock.advance(1_000);
    expect([asked, clock.pending]).toEqual([3, 0]);
  });

  it('is asked no more once it is closed', async () => {
    ready.clear();
    topology.refresh();
    await clock.advance(0);
    topology.close();
    const before = asked;
    topology.refresh();
    await clock.advance(1_000);
    expect([asked, clock.pending]).toEqual([before, 0]);
  });
});
