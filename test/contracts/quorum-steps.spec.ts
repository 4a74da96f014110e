import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { scripts } from '../../lib/engine/locks/quorum/quorum-node.js';
import { RedisProcess } from '../../tools/redis-server.js';

let server: RedisProcess;
let node: Redis;
beforeAll(async () => {
  server = await RedisProcess.start();
  node = new Redis(server.url);
});
afterAll(async () => {
  node.disconnect();
  await server.stop();
});
beforeEach(() => node.flushall());

const DAY = 86_400_000;
const NEVER = 9e15;
/** As large as tokens are, and long past: they are µs since the epoch. */
const T = 1_700_000_000_000_000;
const KEPT = '99999999999999-kept';

describe('a node of a quorum', () => {
  it('votes for one holder, until its ttl', async () => {
    expect(await ask({ ttl: 60_000 })).toEqual(['held', T + 100]);
    expect(await ask({ holder: 'b' })).toEqual(['busy', `a/1/${T + 100}`]);
    expect(await node.get('lock')).toBe(`a/1/${T + 100}`);
    const left = await node.pttl('lock');
    expect([left > 30_000, left <= 60_000]).toEqual([true, true]);
  });

  it('votes for nobody whose ask comes too late', async () => {
    expect(await ask({ not_after: (await now()) - 1_000 })).toEqual(['late', 0]);
    expect(await node.exists('lock', 'fence')).toBe(0);
  });

  it('takes a later attempt of the same holder for the earlier one, and no earlier one for it', async () => {
    await ask({ attempt: 9 });
    expect((await ask({ attempt: 10, ttl: 50_000 }))[0]).toBe('held');
    expect(await ask({ attempt: 9 })).toEqual(['late', 0]);
    expect(await node.get('lock')).toBe(`a/10/${T + 103}`);
    expect(await node.pttl('lock')).toBeGreaterThan(5_000);
  });

  it('takes no holder for another whose name goes on', async () => {
    await ask({ holder: 'a/1', attempt: 2 });
    expect(await ask()).toEqual(['busy', `a/1/2/${T + 100}`]);
    await ask({ holder: 'a/1', attempt: 3, tokens: 0 });
    expect(await ask()).toEqual(['busy', 'a/1/3/0']);
    await node.flushall();
    await ask({ holder: 'ab', attempt: 2 });
    expect(await ask()).toEqual(['busy', `ab/2/${T + 100}`]);
  });

  it('leaves alone what another service put there, and says what it is', async () => {
    await node.set('lock', 'its');
    expect(await ask()).toEqual(['busy', 'its']);
    await node.del('lock');
    await node.rpush('lock', 'its');
    expect(await ask()).toEqual(['foreign', 'list']);
    expect(await step('release', { holder: 'a', attempt: '' })).toBe(0);
    expect(await step('settle', { holder: 'a', attempt: 1, last: 9, tokens: 1 })).toBe(0);
    expect(await step('extend', { holder: 'a', ttl: 9_000 })).toEqual([-3]);
    expect(await step('force')).toBe('list');
    expect(await node.exists('lock')).toBe(1);
  });

  it('gives the proposed tokens where it can, else those above its last, and the same to who asks again', async () => {
    expect(await ask()).toEqual(['held', T + 100]);
    expect(await node.get('fence')).toBe(`${T + 102}`);
    expect(await ask()).toEqual(['held', T + 100]);
    await node.set('fence', T + 400); // of another lock in the slot
    expect(await ask()).toEqual(['held', T + 100]);
    await node.set('fence', T + 102);
    expect(await ask({ attempt: 2 })).toEqual(['held', T + 103]);
    expect(await ask({ attempt: 3, proposed: T + 106 })).toEqual(['held', T + 106]);
    expect(await ask({ attempt: 4, proposed: T + 200, tokens: 1 })).toEqual(['held', T + 200]);
    expect(Number(await node.get('fence'))).toBe(T + 200);
    expect(await ask({ attempt: 5, tokens: 0 })).toEqual(['held', 0]);
    expect(Number(await node.get('fence'))).toBe(T + 200);
  });

  it('remembers its last token for a day, and for as long as that leads its clock', async () => {
    await ask();
    const left = await node.pttl('fence');
    expect([left > DAY - 60_000, left <= DAY]).toEqual([true, true]);
    const told = (await now()) + 3_600_000_000;
    await step('settle', { holder: 'a', attempt: 1, last: told, tokens: 1 });
    const settled = await node.pttl('fence');
    expect([settled > DAY + 3_500_000, settled < DAY + 3_700_000]).toEqual([true, true]);
    await ask({ attempt: 2 });
    expect(await node.pttl('fence')).toBeGreaterThan(DAY + 3_400_000);
  });

  it('goes by its own clock where the proposal is far ahead of that', async () => {
    const before = await now();
    const [, first] = await ask({ proposed: before + 60_000_000 });
    expect([Number(first) >= before, Number(first) <= (await now())]).toEqual([true, true]);
    expect(Number(await node.get('fence'))).toBe(Number(first) + 2);
  });

  describe('told the token of the quorum', () => {
    const told = (more: Operands = {}): Promise<unknown> =>
      step('settle', { holder: 'a', attempt: 1, last: T + 500, tokens: 3, ...more });

    it('remembers it, and the first of the holder’s, and the lease ends when it would have', async () => {
      await ask();
      for (const lost of [false, true]) {
        if (lost) await node.del('fence');
        expect(await told()).toBe(1);
        expect(await node.get('fence')).toBe(`${T + 500}`);
        expect(await node.get('lock')).toBe(`a/1/${T + 498}`);
      }
      const left = await node.pttl('lock');
      expect([left > 0, left <= 5_000]).toEqual([true, true]);
      expect(await ask()).toEqual(['held', T + 498]);
    });

    it('keeps a greater one of its own', async () => {
      await ask({ proposed: T + 1_000 });
      expect(await told()).toBe(1);
      expect(await node.get('fence')).toBe(`${T + 1_002}`);
    });

    it.each<[string, () => Promise<unknown>]>([
      ['another attempt', () => ask({ attempt: 2 })],
      ['another holder', () => ask({ holder: 'b' })],
      ['nobody', () => node.flushall()],
    ])('refuses it where it votes for %s', async (_whom, vote) => {
      await vote();
      await node.del('fence');
      expect(await told()).toBe(0);
      expect(await node.exists('fence')).toBe(0);
    });
  });

  it('takes back the vote for one attempt, or for all of a holder, and no other’s', async () => {
    const back = (holder: string, attempt: number | string, more: Operands = {}) =>
      step('release', { holder, attempt, ...more });
    await ask({ attempt: 2 });
    expect([await back('b', ''), await back('a', 1), await back('a', 3)]).toEqual([0, 0, 0]);
    expect(await node.get('lock')).toBe(`a/2/${T + 100}`);
    expect([await back('a', 2), await back('a', 2)]).toEqual([1, 0]);
    await ask();
    expect(await back('a', '')).toBe(1);
    expect(await node.exists('lock')).toBe(0);
    await ask();
    expect(await back('a', '', { keep: 60_000 })).toBe(1);
    expect(await node.get('lock')).toBe(KEPT);
    const left = await node.pttl('lock');
    expect([left > 50_000, left <= 60_000]).toEqual([true, true]);
    expect(await ask({ attempt: 2 })).toEqual(['busy', KEPT]);
    expect(await back('a', '')).toBe(0);
  });

  it('keeps it for nobody also where memory is short', async () => {
    await ask();
    await node.config('SET', 'maxmemory', '1');
    try {
      expect(await step('release', { holder: 'a', attempt: '', keep: 60_000 })).toBe(1);
      expect(await node.get('lock')).toBe(KEPT);
    } finally {
      await node.config('SET', 'maxmemory', '0');
    }
  });

  it('says of no vote that it is not the holder’s while it is a replica, whose data may be old', async () => {
    await node.replicaof('127.0.0.1', '1');
    try {
      const released = step('release', { holder: 'a', attempt: '' });
      await expect(released).rejects.toThrow('READONLY');
    } finally {
      await node.replicaof('NO', 'ONE');
    }
  });

  it('lengthens a lease for which it votes, shortens none, and brings none back', async () => {
    await ask({ proposed: await now() });
    expect(await step('extend', { holder: 'a', ttl: 60_000 })).toBe(1);
    expect(await node.pttl('lock')).toBeGreaterThan(50_000);
    const [left] = (await step('extend', { holder: 'a', ttl: 1_000 })) as [number];
    expect([left > 50_000, left <= 60_000]).toEqual([true, true]);
    expect(await node.pttl('lock')).toBeGreaterThan(50_000);
    expect(await step('extend', { holder: 'b', ttl: 90_000 })).toEqual([-3]);
    expect(await node.pttl('lock')).toBeLessThanOrEqual(60_000);
    await node.del('lock');
    expect(await step('extend', { holder: 'a', ttl: 60_000 })).toEqual([-2]);
    expect(await node.exists('lock')).toBe(0);
  });

  it('lengthens several leases at once, each by its own answer', async () => {
    const { source } = scripts.extend;
    await ask();
    await node.set('other', 'b/4/0', 'PX', 5_000);
    const keys = ['lock', 'other', 'free'];
    const args = ['a', 'b', 'a', '60000', '70000', '80000'];
    expect(await node.eval(source, keys.length, ...keys, ...args)).toEqual([60_000, 70_000, -2]);
    expect(await node.exists('free')).toBe(0);
  });

  it('votes again for a holder whom it has forgotten, and for nobody beside another', async () => {
    const again = (holder: string, not_after = NEVER): Promise<unknown> =>
      step('revote', { holder, ttl: 5_000, not_after });
    expect(await again('a', (await now()) - 1_000)).toBe(0);
    expect(await node.exists('lock')).toBe(0);
    expect(await again('a')).toBe(1);
    expect(await node.pttl('lock')).toBeGreaterThan(4_000);
    expect([await again('b'), await again('a')]).toEqual([0, 0]);
    expect(await step('extend', { holder: 'a', ttl: 9_000 })).toBe(1);
    expect((await ask({ attempt: 1 }))[0]).toBe('held');
  });

  it('takes the vote away from whoever has it, where an operator says so', async () => {
    expect(await step('force')).toBe('none');
    expect(await step('force', { seen: 'a' })).toBe('none');
    await ask();
    expect(await step('force', { seen: 'b' })).toBe('another');
    expect(await step('force', { seen: 'a' })).toBe('string');
    await ask();
    expect(await step('force')).toBe('string');
    expect(await node.exists('lock')).toBe(0);
    expect(await node.exists('fence')).toBe(1);
  });
});

type Operands = Readonly<Record<string, string | number>>;

/** One step on the node. */
function step(name: keyof typeof scripts, operands: Operands = {}): Promise<unknown> {
  const { source, keys } = scripts[name];
  const args = scripts[name].argList(operands as never).map(String);
  return node.eval(source, keys.length, ...keys, ...args);
}

/** What the node answers to an attempt: the kind, and the first token or what stands there. */
async function ask(more: Operands = {}): Promise<[kind: string, detail: number | string]> {
  const operands = { holder: 'a', attempt: 1, ttl: 5_000, tokens: 3, proposed: T + 100 };
  const [kind, , detail] = (await step('acquire', {
    ...operands,
    not_after: NEVER,
    ...more,
  })) as [string, number, number | string];
  return [kind, detail];
}

/** How far the server's clock is, in µs. */
async function now(): Promise<number> {
  const [seconds, us] = await node.time();
  return Number(seconds) * 1_000_000 + Number(us);
}
