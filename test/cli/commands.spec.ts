import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { TestingModule } from '@nestjs/testing';
import { type Lease, LockService } from 'nest-redis-lock';
import { RedisProcess } from '../../tools/redis-server.js';
import {
  asked,
  askedInProcess,
  Command,
  command,
  endCommands,
  HOST,
  inProcess,
  onTerminal,
  type Outcome,
} from '../support/command.js';
import { application } from '../support/lock-application.js';
import { until } from '../support/until.js';

const { pid } = process;

let redis: RedisProcess;
let admin: Redis;
let app: TestingModule;
let locks: LockService;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  redis = await RedisProcess.start();
  admin = new Redis(redis.url);
  env = { REDIS_URL: redis.url };
});
afterAll(async () => {
  admin.disconnect();
  await redis.stop();
});
beforeEach(async () => {
  app = await application(redis.url);
  locks = app.get(LockService);
});
afterEach(async () => {
  await endCommands();
  await app.close();
  await admin.flushall();
});

describe('list', () => {
  it('shows each lock that is held: how, by whom, for how long, what is left and who waits', async () => {
    await locks.acquire('account:1', { ttl: '1h', label: 'Seats.hold' });
    const readers = ['1h', '1h'] as const;
    for (const ttl of readers) await locks.acquire('prices', { mode: 'shared', ttl });
    await locks.semaphore('reports', { permits: 3 }).acquire({ ttl: '1h' });
    const stop = new AbortController();
    const waiting = locks
      .acquire('account:1', { wait: Infinity, signal: stop.signal })
      .catch(() => {});
    await until('it waits', async () => (await locks.inspect('account:1')).waiting === 1);
    const outcome = await run('list');
    stop.abort();
    await waiting;
    const by = `${HOST} pid ${pid}`;
    expect(outcome).toMatchObject({ code: 0, stderr: '' });
    expect(outcome.stdout).toMatch(/^KEY +HELD AS +BY +FOR +LEFT +WAITING\n/);
    expect(rowsOf(outcome)).toEqual([
      [
        'account:1',
        'exclusive',
        `${by}, Seats.hold`,
        expect.stringMatching(/ m?s$/),
        expect.stringMatching(/^59 min/),
        expect.stringMatching(/^1, the first for \d+ m?s/),
      ],
      ['prices', 'shared ×2', by, expect.stringMatching(/^59 min/)],
      ['reports', 'permits ×1', by, expect.stringMatching(/^59 min/)],
    ]);
  });

  it('shows a lease that was handed over as one that nobody works under', async () => {
    const lease = await locks.acquire('order:1', { ttl: '1h', label: 'Orders.ship' });
    const text = await lease.handOver(); // nobody renews it
    const by = `${HOST} pid ${pid}, Orders.ship`;
    expect(rowsOf(await run('list'))[0]!.slice(0, 3)).toEqual(['order:1', 'handed over', by]);
    const { stdout } = await run('inspect', 'order:1');
    expect(stdout).toContain('  state     held, handed over\n');
    expect((await asked(['inspect', 'order:1'], env)).answer).toMatchObject({
      handedOver: true,
      holder: { label: 'Orders.ship' },
    });
    await locks.restore(text);
    expect(statesOf(await run('list'))).toEqual([['order:1', 'exclusive']]);
  });

  it('has those whose keys match, as many as the limit says', async () => {
    for (const key of ['a:1', 'a:2', 'b:1']) await locks.acquire(key);
    expect(rowsOf(await run('list', 'a:*')).map(([key]) => key)).toEqual(['a:1', 'a:2']);
    const { stdout } = await run('list', '--limit=2');
    expect(stdout).toContain('There may be more than 2');
    const { answer } = await asked(['list', '--limit=2'], env);
    expect(answer).toMatchObject({ locks: [{}, {}], cut: true });
  });

  it('says so where nothing is held', async () => {
    expect(await run('list')).toEqual({ code: 0, stdout: 'No lock is held.\n', stderr: '' });
    expect((await run('list', 'a*')).stdout).toBe('No lock is held whose key matches "a*".\n');
  });

  it('tells programs what inspect() tells, in JSON', async () => {
    await locks.acquire('account:1');
    const { code, answer } = await asked(['list'], env);
    const [seen] = await locks.list();
    expect(code).toBe(0);
    const { remaining, holder, ...rest } = seen!;
    expect(answer).toEqual({
      locks: [
        {
          ...rest,
          remaining: expect.any(Number),
          holder: { ...holder, since: holder!.since!.toISOString(), heldFor: expect.any(Number) },
        },
      ],
    });
    expect(remaining).toBeLessThanOrEqual(30_000);
  });

  it('has the members in JSON that the page promises: more may come, none may go', async () => {
    await (await locks.acquire('kept', { minHold: '1h', ttl: '1h' })).release();
    await admin.set('lock:foreign', 'something');
    await locks.acquire('alone');
    await locks.acquire('shared', { mode: 'shared' });
    const stop = new AbortController();
    const { signal } = stop;
    const waiting = locks.acquire('alone', { wait: Infinity, signal }).catch(() => {});
    await until('it waits', async () => (await locks.inspect('alone')).waiting === 1);
    const { answer } = await asked(['list'], env);
    const looked = await asked(['inspect', 'alone'], env);
    stop.abort();
    await waiting;
    const number = expect.any(Number);
    const party = { host: HOST, pid };
    const nobody = { waiting: 0, waiters: [], awaiting: 0 };
    const since = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    const alone = {
      key: 'alone',
      state: 'held',
      mode: 'exclusive',
      holder: { ...party, since, heldFor: number },
      remaining: number,
      fencingToken: number,
      lastFencingToken: number,
      waiting: 1,
      waiters: [{ ...party, age: number }],
      awaiting: 0,
    };
    expect(looked.answer).toMatchObject(alone);
    expect(answer).toMatchObject({
      locks: [
        alone,
        { key: 'foreign', state: 'foreign', ...nobody },
        { key: 'kept', state: 'kept', remaining: number, ...nobody },
        {
          key: 'shared',
          state: 'held',
          mode: 'shared',
          holders: [{ ...party, remaining: number }],
          remaining: number,
          ...nobody,
        },
      ],
    });
    const checked = await asked(['doctor'], env);
    expect(checked.answer.findings).toContainEqual({
      check: 'persistence',
      status: 'warning',
      found: expect.any(String),
      remedy: expect.any(String),
      servers: [`127.0.0.1:${redis.port}/0`],
    });
  });

  it('looks behind another prefix, and for locks in another format', async () => {
    await admin.set('app:x', 'token', 'PX', 60_000);
    await admin.hset('rlock', '4f1b7a3e-0000-4000-8000-000000000000:1', 1);
    await admin.pexpire('rlock', 60_000);
    expect(statesOf(await run('list', '--prefix', 'app:'))).toEqual([['x', 'foreign']]);
    expect(statesOf(await run('list', '--dialect', 'redisson'))).toEqual([['rlock', 'held']]);
    expect(await run('list', '--dialect', 'redlock')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('takes every string of Redis for a lock'),
    });
    expect(statesOf(await run('list', 'app:*', '--dialect', 'redlock'))).toEqual([
      ['app:x', 'held'],
    ]);
    const spring = '{"name":"spring","registry":"app"}';
    expect(statesOf(await run('list', '--dialect', spring))).toEqual([['x', 'held']]);
  });
});

describe('inspect', () => {
  it('shows holder, lease, token and queue of one lock, and ends with 0', async () => {
    const lease = await locks.acquire('account:1', { label: 'Seats.hold' });
    const stop = new AbortController();
    const waiting = locks
      .acquire('account:1', { wait: Infinity, signal: stop.signal, label: 'Seats.wait' })
      .catch(() => {});
    await until('it waits', async () => (await locks.inspect('account:1')).waiting === 1);
    const { code, stdout } = await run('inspect', 'account:1');
    stop.abort();
    await waiting;
    expect(code).toBe(0);
    expect(stdout.split('\n')).toEqual([
      'account:1',
      '  state     held, exclusive',
      `  holder    ${HOST} pid ${pid}, Seats.hold`,
      expect.stringMatching(/^ {2}since {5}\d{4}-\d\d-\d\dT[\d:.]+Z, for \d+ m?s$/),
      expect.stringMatching(/^ {2}left {6}\d+ s$/),
      `  token     ${lease.fencingToken}`,
      '  waiting   1',
      expect.stringMatching(new RegExp(`^ {12}${HOST} pid ${pid}, Seats\\.wait, for \\d+ m?s$`)),
      '',
    ]);
  });

  it('ends with 1 where the lock is free, or is none', async () => {
    await admin.set('lock:strange', 'something');
    expect(await run('inspect', 'a')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('state     free'),
    });
    expect(await run('inspect', 'strange')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('foreign'),
    });
    expect(await asked(['inspect', 'a'], env)).toEqual({
      code: 1,
      answer: {
        key: 'a',
        state: 'free',
        lastFencingToken: undefined,
        waiting: 0,
        waiters: [],
        awaiting: 0,
      },
    });
  });

  it('tells programs by null that a lock never ends', async () => {
    await locks.acquire('a');
    await admin.persist('lock:a');
    expect((await asked(['inspect', 'a'], env)).answer).toMatchObject({
      state: 'held',
      remaining: null,
    });
  });

  it('takes a key that begins with a hyphen behind --', async () => {
    await locks.acquire('-a');
    expect(await run('inspect', '--', '-a')).toMatchObject({ code: 0 });
  });
});

describe('release', () => {
  it('takes the lock from its holder, who is told, and the next one has it', async () => {
    const lease = await locks.acquire('a');
    expect(await run('release', 'a', '--yes')).toEqual({
      code: 0,
      stdout: 'Lock "a" was released.\n',
      stderr: '',
    });
    await until('the holder is told', () => lease.signal.aborted);
    await locks.acquire('a', { wait: 0 });
    expect(await asked(['release', 'a', '-y'], env)).toEqual({
      code: 0,
      answer: { key: 'a', released: true },
    });
  });

  it('ends with 1 where nobody has the lock', async () => {
    expect(await run('release', 'a', '--yes')).toEqual({
      code: 1,
      stdout: 'Lock "a" is free.\n',
      stderr: '',
    });
    expect(await asked(['release', 'a', '--yes'], env)).toEqual({
      code: 1,
      answer: { key: 'a', released: false },
    });
  });

  it('leaves alone what is no lock in this format', async () => {
    await admin.set('lock:strange', 'something');
    expect(await run('release', 'strange', '--yes')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('no lock in this format'),
    });
    expect(await admin.get('lock:strange')).toBe('something');
    expect(
      await run('release', 'strange', '--yes', '--dialect={"name":"plain","prefix":"lock:"}'),
    ).toMatchObject({ code: 0 });
    expect(await admin.exists('lock:strange')).toBe(0);
  });

  it('does nothing without a terminal to ask on', async () => {
    const lease = await locks.acquire('a');
    expect(await run('release', 'a')).toEqual({
      code: 2,
      stdout: '',
      stderr: 'There is no terminal on which to ask: add --yes to release the lock.\n',
    });
    expect(lease.held).toBe(true);
  });

  it.each([
    ['yes', 'y\n', 0],
    ['another word', 'maybe\n', 1],
    ['nothing', '\n', 1],
    ['Ctrl+C', '\u0003', 1],
    ['the end of input', '\u0004', 1],
  ])('asks on a terminal, and does what %s says', async (_, typed, code) => {
    await locks.acquire('a');
    const shell = onTerminal(['release', 'a'], env);
    await until('it asks', () => shell.stdout.includes('[y/N]'));
    expect(shell.stdout).toContain(`Lock "a" is taken (exclusive) by ${HOST} pid ${pid}`);
    shell.child.stdin!.write(typed);
    expect((await shell.ended).code).toBe(code);
    const { state } = await locks.inspect('a');
    expect(state).toBe(code === 0 ? 'free' : 'held');
  });
});

describe('release after an answer that took long', () => {
  const KEY = 'a';

  it.each<[what: string, happens: (lease: Lease) => Promise<unknown>, says: string]>([
    [
      'another caller that took the lock meanwhile',
      async (lease) => {
        await lease.release();
        return locks.acquire(KEY);
      },
      `Another caller holds it now: ${HOST} pid ${pid}.`,
    ],
    [
      'the minimum hold of a lock that was given back meanwhile',
      (lease) => lease.release(),
      'Nobody holds it any more: its minimum hold (option "minHold") is not over.',
    ],
    [
      'what stands in the place of the lock by now',
      () => admin.set(`lock:${KEY}`, 'something'),
      `What stands at "${KEY}" is no lock in this format. Give its --dialect or --prefix.`,
    ],
    ['a lock that is free by now', () => admin.del(`lock:${KEY}`), `Lock "${KEY}" is free.`],
  ])('leaves %s alone', async (what, happens, says) => {
    const minHold = what.startsWith('the minimum') ? '1h' : 0;
    const lease = await locks.acquire(KEY, { ttl: '1h', minHold });
    const shell = onTerminal(['release', KEY], env);
    await until('it asks', () => shell.stdout.includes('[y/N]'));
    await happens(lease);
    const before = await admin.get(`lock:${KEY}`);
    shell.child.stdin!.write('y\n');
    const { code, stdout } = await shell.ended;
    expect(stdout).toContain(says);
    expect(code).toBe(1);
    expect(await admin.get(`lock:${KEY}`)).toBe(before);
  });
});

describe('scripts', () => {
  const nowhere = { REDIS_URL: 'redis://127.0.0.1:1' };

  it('lists each step of the protocol, and asks no Redis', async () => {
    const steps = [
      ...readFileSync('docs/protocol.md', 'utf8').matchAll(/^\| `(\w+)\/([\w-]+)\.lua`/gm),
    ];
    const names = steps.map(
      ([, folder, file]) =>
        `${folder}.${file!.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())}`,
    );
    const { code, stdout } = await command(['scripts'], nowhere);
    expect(code).toBe(0);
    expect(stdout.trimEnd().split('\n').sort()).toEqual(names.sort());
    const { answer } = await asked(['scripts'], nowhere);
    expect(answer.scripts.map(({ name }: { name: string }) => name).sort()).toEqual(names);
  });

  it('prints one as Redis gets it', async () => {
    await locks.acquire('a');
    await locks.tryAcquire('a');
    const { stdout } = await inProcess(['scripts', 'lock.acquire'], nowhere);
    const sent = stdout.slice(0, -1); // without the end of the last line
    const sha = createHash('sha1').update(sent).digest('hex');
    expect(await admin.script('EXISTS', sha)).toEqual([1]);
    const { answer } = await askedInProcess(['scripts', 'lock.acquire'], nowhere);
    expect(answer).toEqual({ scripts: [{ name: 'lock.acquire', text: sent }] });
  });
});

describe('watch', () => {
  it('prints, where no terminal is, what is held whenever that changes, and ends by a signal with 0', async () => {
    const watching = new Command(['watch', '--interval=100ms'], env);
    await until('it saw nothing', () => watching.stdout.includes('No lock is held.'));
    const lease = await locks.acquire('account:1');
    await until('it saw the lock', () => watching.stdout.includes('account:1'));
    const before = await scans();
    await until('it looked again', async () => (await scans()) > before + 3);
    await lease.release();
    await until(
      'it saw the release',
      () => watching.stdout.match(/No lock is held/g)?.length === 2,
    );
    watching.child.kill('SIGINT');
    const { code, stdout, stderr } = await watching.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).not.toMatch(/\p{Cc}(?<!\n)/u);
    expect(stdout.match(/^KEY/gm)).toHaveLength(1); // not once for each look
  });

  it('writes a line of JSON for each look, for as long as it should', async () => {
    await locks.acquire('a');
    const { code, stdout } = await run('watch', '--json', '--interval=100ms', '--for=1s');
    const sights = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(code).toBe(0);
    expect(sights.length).toBeGreaterThan(0);
    for (const sight of sights) {
      expect(sight).toMatchObject({ at: expect.stringMatching(/Z$/), locks: [{ key: 'a' }] });
    }
  });

  it('draws a table on a terminal again and again, and gives the screen back at Ctrl+C', async () => {
    const key = `account:${'1'.repeat(100)}`;
    await locks.acquire(key);
    for (let nth = 0; nth < 20; nth += 1) await locks.acquire(`b:${nth}`);
    const shell = onTerminal(['watch', '--interval=100ms'], env);
    const drawn = (): string[] => shell.stdout.split('\u001b[H').slice(1);
    await until('it has drawn three times', () => drawn().length > 3);
    const lines = drawn()[1]!.replaceAll('\u001b[K', '').split('\r\n');
    expect(lines).toHaveLength(12); // the last one is empty: nothing scrolls
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
    expect(lines[3]).toMatch(/^account:1+… +exclusive/);
    shell.child.stdin!.write('\u0003');
    const { code, stdout } = await shell.ended;
    expect(code).toBe(0);
    expect(stdout.startsWith('\u001b[?1049h\u001b[?25l\u001b[H')).toBe(true);
    expect(stdout.trimEnd().endsWith('\u001b[?25h\u001b[?1049l')).toBe(true);
  });

  it('ends when nobody reads it any more', async () => {
    const watching = new Command(['watch', '--json', '--interval=100ms'], env);
    await until('it prints', () => watching.stdout.includes('\n'));
    watching.child.stdout!.destroy();
    expect(await watching.ended).toMatchObject({ code: 0, stderr: '' });
  });
});

/** How often Redis was scanned. */
async function scans(): Promise<number> {
  return Number(/cmdstat_scan:calls=(\d+)/.exec(await admin.info('commandstats'))?.[1] ?? 0);
}

/** The cells of the rows that follow the heading. */
function rowsOf({ stdout }: Outcome): string[][] {
  const [, ...rows] = stdout.trimEnd().split('\n');
  return rows.map((row) => row.split(/ {2,}/));
}

/** Each key and how it is held. */
function statesOf(outcome: Outcome): string[][] {
  return rowsOf(outcome).map((row) => row.slice(0, 2));
}

async function run(...words: string[]): Promise<Outcome> {
  return command(words, env);
}
