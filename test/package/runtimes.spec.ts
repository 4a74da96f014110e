import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RedisProcess } from '../../tools/redis-server.js';
import { Consumer, INSTALLING, type Outcome } from './consumer.js';
import { outsideNpm } from './outside-npm.js';
import { BUILDING, pack } from './packed.js';
import { here, missingOf, type Runner, RUNTIMES } from './runners.js';

let folder: string;
let tarball: string;
let redis: RedisProcess;
let consumer: Consumer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'nest-redis-lock-runtimes-'));
  [tarball, redis] = await Promise.all([pack(folder), RedisProcess.start()]);
  consumer = await Consumer.install('runtimes', tarball, folder);
  const { code, stdout } = await consumer.node(['node_modules/typescript/bin/tsc', '-p', '.']);
  if (code !== 0) throw new Error(stdout);
}, BUILDING + INSTALLING);

afterAll(async () => {
  await redis?.stop();
  rmSync(folder, { recursive: true, force: true });
});

for (const runtime of RUNTIMES) {
  const missing = missingOf(runtime);
  // oxlint-disable-next-line jest/no-disabled-tests
  if (missing !== undefined) it.skip(`${runtime.name}: ${missing}`, () => {});
}

describe.each(here)('a Nest application run by $name', (runtime) => {
  it('locks in every way, is measured and shown, and ends by itself', async () => {
    const { code, stdout, stderr } = await run(runtime, runtime.main);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({
      calls: {
        route: 'balance of 7',
        withdrawn: '10 from account:42 by this process',
        nested: ['outer', 'inner', 'outer', 'outer'],
        outside: 'no lock',
        busy: 'LOCK_NOT_ACQUIRED',
        permits: [1, 2, 3],
        both: ['a', 'b'],
        memory: 'a',
      },
      between: { later: true, aborted: 'AbortError', lost: 'forced', renewed: true },
      reconnects: { cut: [true, true], released: true, next: true },
      pages: {
        health: [true, ['locks']],
        late: true,
        page: [200, true],
        events: [200, 'text/event-stream; charset=utf-8'],
      },
      parents: { 'lock.hold': 'request', work: 'lock.hold' },
      heard: true,
      counted: true,
      ended: true,
    });
  });

  it('gives its locks back when it is told to end', async () => {
    const child = spawn(runtime.program, [...runtime.args, runtime.worker, 'hold'], {
      cwd: consumer.folder,
      env: outsideNpm(env()),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    await Promise.race([once(child.stdout, 'data'), ended]);
    const data = new Redis(redis.url);
    try {
      expect(await data.exists('lock:held')).toBe(1);
      child.kill('SIGTERM');
      await ended;
      expect(await data.exists('lock:held')).toBe(0);
    } finally {
      child.kill('SIGKILL');
      data.disconnect();
    }
  });
});

// Deno makes but a link to a tarball.
for (const { program, args, main } of here.filter(({ name }) => name === 'Bun')) {
  it(
    'Bun installs the package and its peers: the application locks with them',
    async () => {
      const installer = { name: 'bun', words: [program, 'add'] } as const;
      const installed = await Consumer.install('runtimes', tarball, folder, installer);
      const { code, stdout, stderr } = await installed.run(program, [...args, main], env());
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const busy = 'LOCK_NOT_ACQUIRED';
      expect(JSON.parse(stdout)).toMatchObject({ calls: { busy }, ended: true });
    },
    INSTALLING,
  );
}

it('processes of all of them wait for each other', async () => {
  const crowd = [...here, ...here];
  const ends = await Promise.all(crowd.map((each) => run(each, each.worker, 'count', '60')));
  expect(ends).toEqual(crowd.map(() => ({ code: 0, stdout: '', stderr: '' })));
  const data = new Redis(redis.url);
  expect(await data.get('counter')).toBe(String(60 * crowd.length));
  data.disconnect();
});

function env(): NodeJS.ProcessEnv {
  return { REDIS_URL: redis.url, DENO_DIR: join(folder, 'deno'), DENO_NO_UPDATE_CHECK: '1' };
}

function run({ program, args }: Runner, file: string, ...words: string[]): Promise<Outcome> {
  return consumer.run(program, [...args, file, ...words], env());
}
