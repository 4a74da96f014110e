import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { KeyList, LuaScript } from '../../lib/engine/redis/index.js';
import { RedisConnection } from '../../lib/engine/redis/redis-connection.js';
import { RedisNode } from '../../lib/engine/redis/redis-node.js';
import type { ServerChecks } from '../../lib/engine/redis/server-check.js';
import type { ScriptRun } from '../../lib/engine/redis/lua-script.js';
import { ManualClock } from '../../lib/memory/testing/index.js';
import { FakeRedis, replyError } from '../support/fake-redis.js';

const TIMEOUT = 500;
const script = new LuaScript('return 1');
const INFO = 'redis_version:7.2.0\r\nredis_mode:standalone\r\nrole:master\r\naof_enabled:1\r\n';

let clock: ManualClock;
let redis: FakeRedis;
let reconnected: number;

beforeEach(() => {
  clock = new ManualClock();
  reconnected = 0;
  redis = new FakeRedis((name) => {
    if (name === 'info') return INFO;
    if (name === 'evalsha') return 'OK';
    if (name === 'time' || name === 'eval') return ['2000', '250000'];
    return name === 'wait' ? 1 : undefined;
  });
  redis.status = 'wait';
});

let node: RedisNode;
afterEach(() => node.close());

describe('a node', () => {
  it('can be used when its clock was read, and not before', async () => {
    node = new RedisNode(connection());
    expect([node.ready, node.notAfter(0)]).toEqual([false, 0]);
    await open();
    expect(node.ready).toBe(true);
    expect(await run()).toBe('OK');
  });

  it.each([
    ['6.0.16', false],
    ['6.2.0', true],
    ['7.0.0', true],
  ])('of version %s can be used: %s', async (version, usable) => {
    const before = redis.says;
    const info = INFO.replace('7.2.0', version);
    redis.says = (name, args) => (name === 'info' ? info : before(name, args));
    const refusal = await open().then(
      () => '',
      (error: Error) => error.message,
    );
    expect(refusal).toContain(
      usable ? '' : `it is version ${version}, and locks need 6.2 or later`,
    );
    expect(node.ready).toBe(usable);
  });

  it('is used in its database alone: a connection that is refused it, as by a slow script, is made again', async () => {
    redis.options.db = 3;
    const before = redis.says;
    const asked: unknown[] = [];
    let isBusy = true;
    redis.says = (name, args) => {
      if (name !== 'select') return before(name, args);
      asked.push(...args.map(Number));
      return isBusy ? replyError('BUSY Redis is busy running a script.') : 'OK';
    };
    const opened = open();
    await nextTurn();
    expect([node.ready, redis.disconnects]).toEqual([false, [true]]);
    isBusy = false;
    redis.go();
    redis.come();
    await opened;
    expect(node.ready).toBe(true);
    isBusy = true;
    redis.go();
    redis.come();
    await nextTurn();
    expect([node.ready, redis.disconnects]).toEqual([false, [true, true]]);
    expect(asked).toEqual([3, 3, 3]);
  });

  it('that refuses what is asked first is connected to again at once, then ever later, and at once again after a success', async () => {
    await open();
    const before = redis.says;
    const refuse = (name: string, args: readonly unknown[]): unknown =>
      name === 'time' ? replyError('BUSY Redis is busy running a script.') : before(name, args);
    const connect = async (): Promise<void> => {
      redis.go();
      redis.come();
      await nextTurn();
    };
    /** How long the connection is kept after it was refused, in ms. */
    const kept = async (): Promise<number> => {
      const known = redis.disconnects.length;
      const since = clock.monotonic();
      await connect();
      while (redis.disconnects.length === known) await clock.advance(1);
      return clock.monotonic() - since;
    };
    redis.says = refuse;
    const pauses = [await kept(), await kept(), await kept(), await kept()];
    expect(pauses[0]).toBe(0);
    for (const [nth, pause] of pauses.slice(1).entries())
      expect(pause).toBeGreaterThan(pauses[nth]! + 40);
    redis.says = before;
    await connect();
    expect(node.ready).toBe(true);
    redis.says = refuse;
    expect(await kept()).toBe(0);
  });

  it('dates a command by its clock, no later than the time-out after now, in µs', async () => {
    await open();
    expect(node.notAfter(clock.monotonic())).toBe(2_000_250_000 + TIMEOUT * 1_000);
    await clock.advance(40);
    expect(node.notAfter(clock.monotonic())).toBe(2_000_290_000 + TIMEOUT * 1_000);
  });

  it('has no clock while its connection is away: nothing can be dated or sent', async () => {
    await open();
    redis.go();
    expect([node.ready, node.notAfter(clock.monotonic()), node.clock.known]).toEqual([
      false,
      0,
      false,
    ]);
    await expect(run()).rejects.toMatchObject({ outcome: 'unsent', key: 'k' });
    expect(redis.names()).toEqual([]);
  });

  it('takes no step on a new connection before it was admitted and its clock was read', async () => {
    const steps: string[] = [];
    let admit = (): void => {};
    await open({
      admit: async () => {
        steps.push(`admitted, ${node?.clock.known ? 'dated' : 'undated'}`);
        if (steps.length > 1) await new Promise<void>((resolve) => (admit = resolve));
      },
    });
    redis.go();
    redis.come();
    await nextTurn();
    expect(steps).toEqual(['admitted, undated', 'admitted, undated']);
    await expect(run()).rejects.toMatchObject({ outcome: 'unsent' });
    expect([redis.names(), reconnected, node.ready]).toEqual([[], 0, false]);
    admit();
    await nextTurn();
    expect([redis.names(), reconnected, node.ready]).toEqual([['time'], 1, true]);
  });

  it('that is not admitted is connected to anew, and nobody is told that it is back', async () => {
    let refuses = false;
    await open({
      admit: () => (refuses ? Promise.reject(new Error('not here')) : Promise.resolve()),
    });
    refuses = true;
    redis.go();
    redis.come();
    await nextTurn();
    expect([redis.disconnects, reconnected, node.ready]).toEqual([[true], 0, false]);
    refuses = false;
    redis.go();
    redis.come();
    await nextTurn();
    expect([redis.disconnects, reconnected, node.ready]).toEqual([[true], 1, true]);
  });

  it('keeps a connection that came while the one before it was still being looked at', async () => {
    const looks: { admit: () => void; refuse: (error: Error) => void }[] = [];
    const admit = (): Promise<void> =>
      new Promise((resolve, refuse) => void looks.push({ admit: resolve, refuse }));
    const lost = new Error('The connection was lost.');
    const opened = open({ admit });
    await nextTurn();
    redis.go();
    redis.come();
    await nextTurn();
    looks[0]!.refuse(lost);
    await nextTurn();
    expect(redis.disconnects).toEqual([]);
    looks[1]!.admit();
    await opened;
    for (let nth = 2; nth <= 3; nth += 1) {
      redis.go();
      redis.come();
    }
    await nextTurn();
    looks[3]!.admit();
    await nextTurn();
    looks[2]!.refuse(lost);
    await nextTurn();
    expect([redis.disconnects, reconnected, node.ready]).toEqual([[], 1, true]);
  });

  it.each<[string, unknown]>([
    ['refuses to tell its time', replyError('NOPERM no')],
    ['tells what is no time', ['no', 'time']],
  ])('that %s is connected to anew', async (_, time) => {
    await open();
    redis.says = () => time;
    redis.go();
    redis.come();
    await nextTurn();
    expect([redis.disconnects, reconnected, node.ready]).toEqual([[true], 0, false]);
  });

  it('that was closed has no clock', async () => {
    await open();
    node.close();
    expect([node.clock.known, node.notAfter(0)]).toEqual([false, 0]);
  });

  it('says ASKING before each step that it takes for another, and only before those', async () => {
    await open();
    const read = (reply: unknown): unknown => reply;
    await node.asking.run({ script, keys: new KeyList([]), args: [], read });
    await run();
    expect(redis.names()).toEqual(['asking', 'evalsha', 'evalsha']);
    expect(node.asking.notAfter(0)).toBe(node.notAfter(0));
  });

  it('of a Cluster may be a replica, which waits for none of its own', async () => {
    const info = INFO.replace('standalone', 'cluster').replace('master', 'slave');
    const { says } = redis;
    redis.says = (name, args) => {
      if (name === 'wait') return replyError('ERR WAIT cannot be used with replica instances.');
      return name === 'info' ? info : says(name, args);
    };
    await open({ replicas: { acks: 1, timeout: 50 } });
    expect(node.ready).toBe(true);
  });

  it('has replicas confirm those steps that ask for it, and no others', async () => {
    await open({ replicas: { acks: 1, timeout: 50 } });
    await run();
    expect(redis.names()).toEqual(['evalsha']);
    await run({ unconfirmed: (answer) => answer });
    expect(redis.names()).toEqual(['evalsha', 'wait']);
  });
});

async function open(checks: ServerChecks = {}): Promise<RedisNode> {
  node = new RedisNode(connection(), checks);
  await node.open(() => (reconnected += 1), true);
  redis.names();
  return node;
}

function connection(): RedisConnection {
  return new RedisConnection(redis.client, TIMEOUT, clock);
}

function run(more: Partial<ScriptRun<unknown>> = {}): Promise<unknown> {
  const read = (reply: unknown): unknown => reply;
  return node.run({ script, keys: new KeyList([]), args: [], key: 'k', read, ...more });
}
