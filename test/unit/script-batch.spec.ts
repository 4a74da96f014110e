import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ForeignLockError } from '../../lib/engine/errors/index.js';
import { systemClock } from '../../lib/engine/options/index.js';
import { CommonOperands, KeyList, LuaScript, type Operand } from '../../lib/engine/redis/index.js';
import { RedisConnection } from '../../lib/engine/redis/redis-connection.js';
import { ClusterProcess } from '../../tools/redis-cluster.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { LockProcess } from '../support/lock-process.js';
import { until } from '../support/until.js';
import { readyClient, writesDuring } from './ready-client.js';
import { all, append, push, pushAlone, swap } from './small-scripts.js';

const TIMEOUT = 500;

let server: RedisProcess;
let admin: Redis;
let client: Redis;
let connection: RedisConnection;

beforeAll(async () => {
  server = await RedisProcess.start();
  admin = new Redis(server.url);
});
afterAll(async () => {
  admin.disconnect();
  await server.stop();
});

beforeEach(async () => {
  await admin.flushall();
  await admin.script('FLUSH');
  await connect(server.url);
  await connection.tryOut(true);
});
afterEach(() => connection.close());

describe('runs of a script that leave together', () => {
  beforeEach(warm);

  it('are one command, behind the first that left at once, and each gets its own answer', async () => {
    let answers: unknown[] = [];
    const widths = await widthsDuring(async () => {
      answers = await Promise.all(runs(8));
    });
    expect(widths).toEqual([1, 7]);
    expect(answers).toEqual(Array.from({ length: 8 }, (_, nth) => [nth + 1, String(nth), 'none']));
  });

  it('have the keys and operands that they were given, of any text', async () => {
    const texts = ['', 'ä', '🔒', '\r\n', '$1\r\n', '\0', 'x'.repeat(300)];
    const answers = await Promise.all(
      texts.map((text, nth) => run(swap, [`a${nth}`, text], [text])),
    );
    expect(answers).toEqual(texts.map((text, nth) => [`a${nth}`, text, text]));
  });

  it('are no more than 32 in one command', async () => {
    const widths = await widthsDuring(() => Promise.all(runs(100)));
    expect(widths).toEqual([1, 8, 32, 32, 27]);
    expect(await admin.lrange('list', 0, -1)).toEqual(
      Array.from({ length: 100 }, (_, nth) => String(nth)),
    );
  });

  it('do not wait for all others while Redis has nothing to do', async () => {
    expect(await widthsDuring(() => Promise.all(runs(16)))).toEqual([1, 8, 7]);
  });

  it('pass no command between them', async () => {
    const widths = await widthsDuring(() =>
      Promise.all([
        run(push, ['list'], ['1']),
        run(push, ['list'], ['2']),
        run(push, ['list'], ['3']),
        connection.send('rpush', ['list', '4']),
        run(push, ['list'], ['5']),
        run(push, ['list'], ['6']),
        run(pushAlone, ['list'], ['7']),
        run(push, ['list'], ['8']),
        run(push, ['list'], ['9', 'more']),
        run(push, ['list'], ['10', 'more']),
        run(swap, ['a', 'b'], ['c']),
        run(push, ['list'], ['11']),
      ]),
    );
    expect(widths).toEqual([1, 2, 2, 1, 1, 2, 2, 1]);
    expect(await admin.lrange('list', 0, -1)).toEqual(
      Array.from({ length: 11 }, (_, nth) => String(nth + 1)),
    );
  });

  it('are not those of a script that does not say that it may', async () => {
    expect(await widthsDuring(() => Promise.all(runs(3, 'list', pushAlone)))).toEqual([1, 1, 1]);
  });

  it('fail each by itself', async () => {
    await admin.set('text', 'no list');
    const [first, second, wrong, last] = await Promise.allSettled([
      run(push, ['list'], ['1']),
      run(push, ['list'], ['2']),
      run(push, ['text'], ['3']),
      run(push, ['list'], ['4']),
    ]);
    expect(first).toMatchObject({ value: [1, '1', 'none'] });
    expect(second).toMatchObject({ value: [2, '2', 'none'] });
    expect(wrong).toMatchObject({ reason: expect.any(ForeignLockError) });
    expect(wrong).toMatchObject({ reason: { key: 'text' } });
    expect(last).toMatchObject({ value: [3, '4', 'none'] });
  });

  it('fail each by itself also where Redis raises a text', async () => {
    const texts = ['1', '2', 'raise', '4'];
    const found = await outcomesOf(texts.map((text) => run(swap, ['a', 'b'], [text])));
    expect(found).toEqual(['answered', 'answered', 'refused', 'answered']);
  });

  it('may answer nothing', async () => {
    const texts = ['1', '2', 'nothing', '4'];
    const answers = await Promise.all(texts.map((text) => run(swap, ['a', 'b'], [text])));
    expect(answers.map((answer) => (answer as unknown[] | null)?.at(2))).toEqual([
      '1',
      '2',
      undefined,
      '4',
    ]);
  });

  it('replace the connection when one is told that its server is no primary', async () => {
    const again = once(client, 'ready');
    const texts = ['1', '2', 'fail', '4'];
    const found = await outcomesOf(texts.map((text) => run(swap, ['a', 'b'], [text])));
    expect(found).toEqual(['answered', 'answered', 'refused', 'answered']);
    await again;
    expect(await run(swap, ['a', 'b'], ['5'])).toEqual(['a', 'b', '5']);
  });

  it('are done once by a server that has forgotten the script, and together the next time', async () => {
    await admin.script('FLUSH');
    await Promise.all(runs(8));
    expect(await admin.lrange('list', 0, -1)).toEqual(
      Array.from({ length: 8 }, (_, nth) => String(nth)),
    );
    await nextTurn();
    await admin.config('RESETSTAT');
    expect(await widthsDuring(() => Promise.all(runs(8)))).toEqual([1, 7]);
    expect(await admin.llen('list')).toBe(16);
    expect(await admin.info('commandstats')).not.toMatch(/cmdstat_eval:/);
  });

  it('are one script to the server, whether they leave together or alone', async () => {
    await admin.script('FLUSH');
    await admin.config('RESETSTAT');
    await run(push, ['list'], ['alone']);
    await nextTurn();
    expect(await widthsDuring(() => Promise.all(runs(8)))).toEqual([1, 7]);
    expect(await admin.info('errorstats')).toMatch(/errorstat_NOSCRIPT:count=1\r/);
  });

  it('that nobody wants any more are not done later', async () => {
    await admin.script('FLUSH');
    const found = outcomesOf([...runs(2), run(push, ['list'], ['x'], () => false), ...runs(1)]);
    expect(await found).toEqual(['answered', 'answered', 'unsent', 'answered']);
    expect(await admin.lrange('list', 0, -1)).toEqual(['0', '1', '0']);
  });
});

describe('runs of a script that takes all of them by itself', () => {
  beforeEach(warm);

  it('are one command, and each gets its own answer; the earliest of their ends stands for all', async () => {
    let answers: unknown[] = [];
    const widths = await widthsDuring(async () => {
      answers = await Promise.all([
        joint('a', '0', 10),
        joint('b', 'ä', 12),
        joint('a', '2', 11),
        joint('c', '', 13),
      ]);
    });
    expect(widths).toEqual([3, 7]);
    expect(answers).toEqual([
      ['shared', '10', 'word', 'a', 'a:other', '0'],
      ['shared', '11', 'word', 'b', 'b:other', 'ä'],
      ['shared', '11', 'word', 'a', 'a:other', '2'],
      ['shared', '11', 'word', 'c', 'c:other', ''],
    ]);
  });

  it('may all be answered by one number', async () => {
    const one = new CommonOperands(['shared'], ['one']);
    const answers = ['a', 'b', 'c'].map((list) => joint(list, 'x', 7, one));
    expect(await Promise.all(answers)).toEqual([1, 1, 1]);
  });

  it('leave apart where they have not the same in common', async () => {
    const others = new CommonOperands(['shared'], ['word']);
    const widths = await widthsDuring(() =>
      Promise.all([all, all, all, others, others, all].map((common) => joint('a', 'x', 7, common))),
    );
    expect(widths).toEqual([3, 5, 5, 3]);
  });

  it('fail each by itself', async () => {
    await admin.set('text', 'no list');
    const all = ['a', 'b', 'text', 'c'].map((list) => joint(list, 'x'));
    const found = await Promise.allSettled(all);
    expect(found.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect(found[2]).toMatchObject({ reason: expect.any(ForeignLockError) });
  });

  it('fail for the key that the user may not touch, and only that one does', async () => {
    await admin.call('ACL', 'SETUSER', 'few', 'on', '>p', '~shared', '~a*', '~c*', '+@all');
    connection.close();
    await connect(server.url.replace('//', '//few:p@'));
    await connection.tryOut(true);
    const found = outcomesOf(['a', 'a', 'b', 'c'].map((list) => joint(list, 'x')));
    expect(await found).toEqual(['answered', 'answered', 'refused', 'answered']);
  });

  it('are done once by a server that has forgotten the script', async () => {
    await admin.script('FLUSH');
    await Promise.all(['0', '1', '2', '3'].map((text) => joint('a', text)));
    expect(await admin.lrange('a', 0, -1)).toEqual(['0', '1', '2', '3']);
  });

  it('leave each as a command of ioredis where that takes none of ours', async () => {
    connection.close();
    await connect(server.url);
    await Promise.all(['0', '1'].map((text) => joint('a', text)));
    expect(await joint('a', '2')).toEqual(['shared', '7', 'word', 'a', 'a:other', '2']);
    expect(await admin.lrange('a', 0, -1)).toEqual(['0', '1', '2']);
  });
});

describe('a command of several runs that fails', () => {
  beforeEach(warm);

  it('for a key that the user may not touch, fails for that one', async () => {
    await admin.call('ACL', 'SETUSER', 'some', 'on', '>p', '~list*', '+@all');
    connection.close();
    await connect(server.url.replace('//', '//some:p@'));
    await connection.tryOut(true);
    const found = outcomesOf(
      ['list', 'list', 'other', 'list2'].map((list) => run(push, [list], ['x'])),
    );
    expect(await found).toEqual(['answered', 'answered', 'refused', 'answered']);
    expect([await admin.llen('list'), await admin.llen('list2')]).toEqual([2, 1]);
  });

  it('as a whole, fails for each of them', async () => {
    await admin.config('SET', 'lua-time-limit', '5');
    const slow = new Redis(server.url);
    const killed = slow.eval('while true do end', 0).catch(() => {});
    await until('a busy server', () =>
      admin.ping().then(
        () => false,
        (error: Error) => error.message.includes('BUSY'),
      ),
    );
    const found = outcomesOf(runs(6));
    expect(await found).toEqual(Array.from({ length: 6 }, () => 'refused'));
    await admin.script('KILL');
    await killed;
    slow.disconnect();
    expect(await admin.llen('list')).toBe(0);
  });

  it.each([
    ['is silent', () => {}],
    ['ends the connection', () => client.stream.destroy()],
  ])('because the server %s, is unknown for each, in time', async (_, then) => {
    server.signal('SIGSTOP');
    const again = once(client, 'ready');
    const from = performance.now();
    const found = outcomesOf(runs(40));
    await nextTurn();
    then();
    expect(await found).toEqual(Array.from({ length: 40 }, () => 'unknown'));
    expect(performance.now() - from).toBeLessThan(TIMEOUT * 2);
    server.signal('SIGCONT');
    await again;
    await admin.del('list');
    expect(await Promise.all(runs(3))).toHaveLength(3);
  });
});

describe('locks', () => {
  it('of one process are taken and given back together', async () => {
    const locks = new LockProcess({ redis: server.url, durability: 'ignore' });
    await locks.locks.open();
    const all = async (): Promise<void> => {
      const keys = Array.from({ length: 20 }, (_, nth) => `k${nth}`);
      const leases = await Promise.all(keys.map((key) => locks.acquire(key)));
      expect(await Promise.all(leases.map((lease) => lease.release()))).not.toContain(false);
    };
    await all();
    await admin.config('RESETSTAT');
    await all();
    const [, calls] = /cmdstat_evalsha:calls=(\d+)/.exec(await admin.info('commandstats'))!;
    expect(Number(calls)).toBeLessThanOrEqual(8);
    await locks.close();
  });

  it('are not those of a script that counts its operands', () => {
    const source = 'local first = KEYS[1]\nreturn #KEYS';
    expect(() => new LuaScript(source, 'batchable')).toThrow(
      'A script that counts its operands cannot be merged.',
    );
  });
});

describe('in a Cluster', () => {
  let cluster: ClusterProcess;
  beforeAll(async () => {
    cluster = await ClusterProcess.start({ primaries: 1 });
  });
  afterAll(() => cluster.stop());

  it('no run leaves with another', async () => {
    const node = new Redis(cluster.primaries[0]!.url);
    const [first, second] = await Promise.all(
      [1, 2].map(async () => {
        const locks = new LockProcess({ redis: { cluster: cluster.seeds }, durability: 'ignore' });
        await locks.locks.open();
        return locks;
      }),
    );
    await (await first!.acquire('a')).release(); // the node knows the scripts
    await node.config('RESETSTAT');
    const keys = ['{a}1', '{a}2', '{a}3', '{a}4', 'a', 'b', 'c'];
    await Promise.all(keys.map(async (key) => (await second!.acquire(key)).release()));
    expect(await node.info('commandstats')).toMatch(
      /cmdstat_evalsha:calls=14,.*rejected_calls=0,failed_calls=0/,
    );
    await Promise.all([first!.close(), second!.close()]);
    node.disconnect();
  });

  it('a node that was taken for a Redis ends it', async () => {
    connection.close();
    await connect(cluster.primaries[0]!.url);
    await connection.tryOut(true);
    const lists = ['a', 'b', 'c', 'd'];
    const pushed = (): Promise<unknown[]> =>
      Promise.all(lists.map((list) => run(push, [list], ['x'])));
    expect(await pushed()).toEqual(lists.map(() => [1, 'x', 'none']));
    await nextTurn();
    expect(await widthsDuring(pushed)).toEqual([1, 1, 1, 1]);
  });
});

async function connect(url: string): Promise<void> {
  const reconnectOnError = (error: Error): boolean => error.message.includes('READONLY');
  client = await readyClient(url, { reconnectOnError });
  connection = new RedisConnection(client, TIMEOUT, systemClock);
}

function run(
  script: LuaScript,
  keys: readonly string[],
  args: readonly Operand[],
  wanted = () => true,
): Promise<unknown> {
  const read = (reply: unknown): unknown => reply;
  return connection.run({ script, keys: new KeyList(keys), args, key: keys[0], wanted, read });
}

function runs(count: number, list = 'list', script = push): Promise<unknown>[] {
  return Array.from({ length: count }, (_, nth) => run(script, [list], [nth]));
}

/** A run of the script that takes them all. */
function joint(list: string, text: string, notAfter = 7, common = all): Promise<unknown> {
  const keys = new KeyList([list, `${list}:other`]);
  const read = (reply: unknown): unknown => reply;
  return connection.run({ script: append, keys, args: [text], key: list, common, notAfter, read });
}

/** The server knows the scripts. */
async function warm(): Promise<void> {
  for (const script of [push, swap, pushAlone, append]) await admin.script('LOAD', script.source);
  await nextTurn();
}

/** How many keys each EVALSHA has that is written while `work` runs. */
async function widthsDuring(work: () => Promise<unknown>): Promise<number[]> {
  const written = (await writesDuring(client, work)).join('');
  const encoded = written.matchAll(/\$7\r\nevalsha\r\n\$40\r\n\w+\r\n\$\d+\r\n(\d+)\r\n/g);
  return [...encoded].map(([, keys]) => Number(keys));
}

async function outcomesOf(all: readonly Promise<unknown>[]): Promise<unknown[]> {
  const settled = await Promise.allSettled(all);
  return settled.map((one) =>
    one.status === 'fulfilled' ? 'answered' : (one.reason as { outcome?: string }).outcome,
  );
}
