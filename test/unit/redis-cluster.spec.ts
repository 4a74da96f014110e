import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { RedisCluster } from '../../lib/engine/redis/cluster/redis-cluster.js';
import { KeyList, LuaScript } from '../../lib/engine/redis/index.js';
import type { ServerListener } from '../../lib/engine/redis/lock-server.js';
import type { RedisNode, StepNode } from '../../lib/engine/redis/redis-node.js';
import { slotOf } from '../../lib/engine/redis/cluster/slot-map.js';
import { storeFailure } from '../../lib/engine/redis/store-failure.js';
import { ManualClock } from '../../lib/memory/testing/index.js';
import { replyError } from '../support/fake-redis.js';
import { FakeCluster } from './fake-cluster.js';

let clock: ManualClock;
let fakes: FakeCluster;
let cluster: RedisCluster;

beforeEach(() => {
  clock = new ManualClock();
  fakes = new FakeCluster(clock);
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

describe('a slot of a Cluster', () => {
  const placeOf = (node: StepNode): string =>
    fakes.places.get((node as RedisNode).connection.client)!;
  /** Where a step is taken, whose first answer is this one. */
  async function taken(answer?: string): Promise<string[]> {
    const asked: string[] = [];
    const step = async (node: StepNode): Promise<string[]> => {
      asked.push(placeOf(node));
      if (answer && asked.length === 1) throw storeFailure(new Error(answer), 'k');
      return asked;
    };
    return cluster.at('k', 'k', step);
  }

  beforeEach(async () => {
    await open();
    await clock.advance(0);
    fakes.slots = { 'a:1': undefined, 'b:2': undefined }; // nobody answers who has which slot
  });
  afterEach(() => cluster.close());

  it('that has moved is asked for at its new node from then on, before any node has said who has it', async () => {
    expect(await taken('MOVED 1 b:2')).toEqual(['a:1', 'b:2']);
    expect(await taken()).toEqual(['b:2']);
  });

  it('that has moved makes this process ask the nodes who has which slot', async () => {
    fakes.slots = { 'b:2': [[0, 16_383, ['b', 2]]], 'a:1': [[0, 16_383, ['b', 2]]] };
    await taken('MOVED 1 b:2');
    await clock.advance(0);
    expect(cluster.describe().found).toContain('Cluster b:2');
  });

  it('that has moved is followed to where this process reaches its new node', async () => {
    fakes.natMap = { 'inside:9': 'b:2' };
    expect(await taken('MOVED 1 inside:9')).toEqual(['a:1', 'b:2']);
    expect(await taken()).toEqual(['b:2']);
  });

  it('that is on its way is asked for at the other node with ASKING, and by the next step where it was', async () => {
    const script = new LuaScript('return 1');
    const asked: string[] = [];
    const step = async (node: StepNode): Promise<string> => {
      asked.push(asked.length === 0 ? placeOf(node) : 'another');
      if (asked.length === 1) throw storeFailure(new Error('ASK 1 b:2'), 'k');
      fakes.made.get('b:2')!.names();
      const run = { script, keys: new KeyList([]), args: [], key: 'k', read: String };
      return node.run(run);
    };
    expect(await cluster.at('k', 'k', step)).toBe('OK');
    expect(asked).toEqual(['a:1', 'another']);
    expect(fakes.made.get('b:2')!.names()).toEqual(['asking', 'evalsha']);
    expect(await taken()).toEqual(['a:1']);
  });

  it.each([
    ['that no node can serve now', 'TRYAGAIN Multiple keys request during rehashing of slot'],
    ['whose new node does not know its host', 'MOVED 1 :2'],
    ['whose new node has no host name', 'MOVED 1 ?:2'],
  ])('%s is asked for again in 20 ms, at the node that has it then', async (_what, answer) => {
    fakes.slots = { 'a:1': [[0, 16_383, ['b', 2]]] };
    let asked: string[] | undefined;
    void taken(answer).then((found) => (asked = found));
    await clock.advance(19);
    expect(asked).toBeUndefined();
    await clock.advance(1);
    expect(asked).toEqual(['a:1', 'b:2']);
  });

  it('that is on its way to a node without a slot keeps the connection there, whatever other steps meet', async () => {
    fakes.away = undefined;
    fakes.slots = {};
    let isAsked = false;
    const step = async (): Promise<void> => {
      if (isAsked) return;
      isAsked = true;
      throw storeFailure(new Error('ASK 1 c:3'), 'k');
    };
    await cluster.at('k', 'k', step);
    for (let times = 0; times < 10; times += 1) {
      await Promise.all([taken('TRYAGAIN Multiple keys'), clock.advance(20)]);
    }
    expect(fakes.made.get('c:3')!.disconnects).toEqual([]);
    await clock.advance(60_000);
    await Promise.all([taken('TRYAGAIN Multiple keys'), clock.advance(20)]);
    expect(fakes.made.get('c:3')!.disconnects).toEqual([false]);
  });

  it('whose new node is away is asked for at the one that took its place, if others know that', async () => {
    fakes.slots = { 'a:1': [[0, 16_383, ['b', 2]]] };
    const failed = taken('MOVED 1 c:3').catch((error: unknown) => error);
    await clock.advance(500);
    expect(await failed).toMatchObject({ outcome: 'unsent' });
    expect(await taken()).toEqual(['b:2']);
  });

  it('whose new node was away is asked for there once it is back', async () => {
    fakes.connectTimeout = 100;
    const failed = taken('MOVED 1 c:3').catch((error: unknown) => error);
    await clock.advance(100);
    expect(await failed).toMatchObject({ code: 'LOCK_STORE' });
    fakes.away = undefined;
    expect(await taken('MOVED 1 c:3')).toEqual(['a:1', 'c:3']);
  });

  it('that nodes send to each other is asked for no longer than a command may take', async () => {
    let times = 0;
    const step = async (): Promise<void> => {
      if (times < 20) await clock.advance(100);
      times += 1;
      if (times < 100) throw storeFailure(new Error(`MOVED 1 ${times % 2 ? 'b:2' : 'a:1'}`), 'k');
    };
    await expect(cluster.at('k', 'k', step)).rejects.toThrow('on another node of the Cluster');
    expect(times).toBe(6);
  });
});

/** Slots below 100 are at a:1, and the others at b:2. */
const both = [
  [0, 99, ['a', 1]],
  [100, 16_383, ['b', 2]],
];

async function openBoth(): Promise<void> {
  fakes.slots = { 'a:1': both, 'b:2': both };
  await open();
  await clock.advance(0);
}

describe('of the nodes of a Cluster', () => {
  beforeEach(async () => {
    await openBoth();
    for (const redis of fakes.made.values()) redis.sent.length = 0;
  });
  afterEach(() => cluster.close());

  it('each is asked for its health by a key of its own', async () => {
    expect(await cluster.health('lock:', 100)).toMatchObject([{ status: 'up' }, { status: 'up' }]);
    const slotsAt = (address: string): number[] =>
      fakes.made.get(address)!.sent.map(({ args }) => slotOf(String(args[2])));
    expect(slotsAt('a:1').map((slot) => slot < 100)).toEqual([true]);
    expect(slotsAt('b:2').map((slot) => slot < 100)).toEqual([false]);
  });

  it('one that was lost is down, whatever the others say', async () => {
    fakes.made.get('a:1')!.go();
    expect(await cluster.health('lock:', 100)).toMatchObject([
      { status: 'down' },
      { status: 'up' },
    ]);
  });

  it('one that is not known refuses a list, which else would lack its locks', async () => {
    const gone = [...both.slice(0, 1), [100, 200, ['c', 3]], [201, 16_383, ['b', 2]]];
    fakes.slots = { 'a:1': gone, 'b:2': gone };
    fakes.connectTimeout = 100;
    fakes.made.get('b:2')!.go();
    fakes.made.get('b:2')!.come();
    await clock.advance(100);
    const list = async (): Promise<void> => {
      for await (const key of cluster.typedKeys('*', 'string')) throw new Error(key);
    };
    expect(cluster.describe().found).toContain('c:3');
    for (let ms = 0; ms < 1_000; ms += 10) {
      await clock.advance(10);
      await expect(list()).rejects.toMatchObject({ outcome: 'unsent' });
    }
  });

  it('those that have left it are connected to no longer', async () => {
    fakes.slots = { 'a:1': [[0, 16_383, ['a', 1]]], 'b:2': [[0, 16_383, ['a', 1]]] };
    fakes.made.get('b:2')!.go();
    await clock.advance(1_000);
    expect(cluster.describe().found).toMatch(/Cluster a:1$/);
    expect([...fakes.made].map(([address, { disconnects }]) => [address, disconnects])).toEqual([
      ['a:1', []],
      ['b:2', [false]],
    ]);
  });
});

describe('a Cluster that is closed while it is being opened', () => {
  /** The error of the opening, and how many connections were made before it was closed, and after. */
  async function closed(): Promise<unknown[]> {
    let error: unknown;
    open().catch((why: unknown) => (error = why));
    await clock.advance(0);
    const before = fakes.places.size;
    await cluster.close();
    await clock.advance(0);
    return [error, before, fakes.places.size];
  }

  it('connects to nothing from then on', async () => {
    fakes.slots = { 'a:1': [[0, 16_383, ['c', 3]]] }; // nobody can connect to that node
    expect(await closed()).toEqual([expect.objectContaining({ outcome: 'unsent' }), 2, 2]);
    expect(clock.pending).toBe(0);
  });

  it('ends the connection that was to become its inbox', async () => {
    fakes.meets = (name) => name === 'cluster' && (fakes.away = 'a:1');
    expect(await closed()).toEqual([expect.objectContaining({ outcome: 'unsent' }), 2, 2]);
    expect(clock.pending).toBe(0);
  });
});

describe('a named node that knows no slots', () => {
  beforeEach(() => {
    fakes.slots = { 'a:1': [], 'b:2': [[0, 16_383, ['b', 2]]] };
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
    fakes.places.get((node as RedisNode).connection.client);
  let key = '';
  for (let n = 0; !key; n += 1) if (slotOf(`${n}`) < 100) key = `${n}`;

  beforeEach(() => openBoth());

  it.each([
    ['forgot all of them', []],
    ['says that it has them', both],
  ])('is left for the one that the others name, where it %s', async (_, said) => {
    expect(await cluster.at(key, 'k', at)).toBe('a:1');
    fakes.slots = { 'a:1': said, 'b:2': [[0, 16_383, ['b', 2]]] };
    await expect(cluster.at(key, 'k', refused)).rejects.toThrow('CLUSTERDOWN');
    await clock.advance(200);
    expect(await cluster.at(key, 'k', at)).toBe('b:2');
    await cluster.close();
  });
});

async function open(seeds = ['a:1']): Promise<void> {
  cluster = new RedisCluster(fakes.source(seeds), 500, clock, 'i:', 'p');
  await cluster.open({ reconnected: () => {} } as ServerListener);
}
