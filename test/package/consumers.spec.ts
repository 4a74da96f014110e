import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RedisProcess } from '../../tools/redis-server.js';
import { blocksOf } from '../docs/pages.js';
import { Consumer } from './consumer.js';
import { pack } from './packed.js';

const JEST = ['node_modules/jest/bin/jest.js', '--ci', '--rootDir=.', '--detectOpenHandles'];
const ESM = ['--experimental-vm-modules'];
const VITEST = ['node_modules/vitest/vitest.mjs', 'run'];
const CONSUMERS = [
  {
    name: 'nest-11',
    what: 'a Nest 11 CommonJS application with Jest 29',
    runners: { 'ts-jest': JEST, '@swc/jest': [...JEST, '--config=jest.swc.json'] },
  },
  {
    name: 'nest-12',
    what: 'a Nest 12 ESM application',
    runners: {
      '@swc/jest in Jest 30': [...ESM, ...JEST],
      'ts-jest in Jest 30': [...ESM, ...JEST, '--config=jest.ts.json'],
      'Vitest in threads': [...VITEST, '--pool=threads'],
      // That pool cannot load supertest, whatever is tested with it.
      'Vitest in vmThreads': [...VITEST, '--pool=vmThreads', '--exclude=pages/e2e-*'],
    },
  },
];
const COMPILERS = { 'TypeScript 5.9': 'typescript', 'TypeScript 7': 'typescript-7' };
const RESOLUTIONS = { node16: 'node16', nodenext: 'nodenext', bundler: 'esnext' };

let folder: string;
let tarball: string;
let redis: RedisProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'nest-redis-lock-package-'));
  [tarball, redis] = await Promise.all([pack(folder), RedisProcess.start()]);
}, 120_000);

afterAll(async () => {
  await redis.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The application is built, starts, locks in every way, and ends by itself. */
async function startsAndLocks(consumer: Consumer): Promise<void> {
  const built = await consumer.node(['node_modules/typescript/bin/tsc', '-p', '.']);
  expect(built).toEqual({ code: 0, stdout: '', stderr: '' });
  const { code, stdout, stderr } = await consumer.node(['dist/main.js'], {
    REDIS_URL: redis.url,
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toEqual({
    route: 'balance of 7',
    withdrawn: '10 from account:42 by this process',
    audited: true,
    busy: 'LOCK_NOT_ACQUIRED',
    testing: expect.arrayContaining(['LockTestingModule', 'ManualClock']),
  });
}

describe.each(CONSUMERS)('$what that installed the package', ({ name, runners }) => {
  let consumer: Consumer;

  beforeAll(async () => {
    consumer = await Consumer.install(name, tarball, folder);
    mkdirSync(join(consumer.folder, 'pages'));
    const tests = ['README.md', 'docs/testing.md'].flatMap(blocksOf);
    for (const [nth, { code }] of tests.entries()) {
      if (!/^(it|describe)\(/m.test(code)) continue;
      const kind = code.includes("from 'supertest'") ? 'e2e' : 'unit';
      writeFileSync(join(consumer.folder, `pages/${kind}-${nth + 1}.spec.ts`), code);
    }
  }, 180_000);

  it('is built, starts, locks in every way and ends by itself', async () => {
    await startsAndLocks(consumer);
  }, 150_000);

  it('has the command: npx runs it', async () => {
    // What npm itself says of its settings is not asked here.
    const ours = ['--no-install', '--loglevel=error', 'nest-redis-lock'];
    const npx = (...words: string[]) =>
      consumer.run('npx', [...ours, ...words], { REDIS_URL: redis.url });
    expect(await npx('list')).toEqual({ code: 0, stdout: 'No lock is held.\n', stderr: '' });
    expect(await npx('inspect', 'a', '--json')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('"state":"free"'),
    });
    expect(await npx('lst')).toMatchObject({ code: 2, stderr: expect.stringContaining('"lst"') });
  }, 60_000);

  it.each(Object.entries(runners))(
    'passes its tests and those of the pages under %s, which has no setting for the package',
    async (_, runner) => {
      const outcome = await consumer.node(runner, { REDIS_URL: redis.url, NO_COLOR: '1' });
      const said = `${outcome.stdout}${outcome.stderr}It ended with ${outcome.code}`;
      expect(said).toMatch(/^ *Tests:? +[1-9]\d* passed(, \d+ total| \(\d+\))$/m);
      expect(said).toMatch(/It ended with 0$/);
      expect(said).not.toMatch(/did not exit|open handle/);
    },
    150_000,
  );

  it.each(Object.entries(COMPILERS))(
    'compiles under %s with every module resolution, our declarations checked too',
    async (_, compiler) => {
      const complaints = await Promise.all(
        Object.entries(RESOLUTIONS).map(async ([moduleResolution, module]) => {
          const flags = { module, moduleResolution, types: 'node,jest', noEmit: 'true' };
          const args = Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, value]);
          const tsc = `node_modules/${compiler}/bin/tsc`;
          const { code, stdout } = await consumer.node([tsc, '-p', '.', ...args]);
          return [moduleResolution, code, stdout];
        }),
      );
      expect(complaints).toEqual([
        ['node16', 0, ''],
        ['nodenext', 0, ''],
        ['bundler', 0, ''],
      ]);
    },
    120_000,
  );
});

describe('an application that pnpm installed, which shows a package only what it names', () => {
  it('is built, starts, locks in every way and ends by itself', async () => {
    await startsAndLocks(await Consumer.install('nest-12', tarball, folder, 'pnpm'));
  }, 180_000);
});

it('npm installs the library from a git URL, built', async () => {
  const empty = await Consumer.ofGit(folder);
  const code = `
    import { LockService } from 'nest-redis-lock';
    import { memoryLockService } from 'nest-redis-lock/testing';
    console.log(await memoryLockService().withLock('a', () => LockService.name));`;
  const ran = await empty.node(['--input-type=module', '--eval', code]);
  expect(ran).toEqual({ code: 0, stdout: 'LockService\n', stderr: '' });
}, 600_000);

describe('an empty folder with ioredis and without Nest', () => {
  let bare: Consumer;
  beforeAll(async () => {
    bare = await Consumer.bare(tarball, folder, ['ioredis']);
  }, 120_000);

  const npx = (words: string[], env = {}) =>
    bare.run('npx', ['--no-install', 'nest-redis-lock', ...words], {
      REDIS_URL: redis.url,
      ...env,
    });

  it('has each command', async () => {
    const admin = new Redis(redis.url);
    await admin.set('lock:a', `web-1.17.${'a'.repeat(11)}/${'b'.repeat(22)}`, 'PX', 3_600_000);
    admin.disconnect();
    const watched = await npx(['watch', '--for=0ms']);
    expect(watched).toMatchObject({ code: 0, stdout: expect.stringContaining('web-1 pid 17') });
    expect(await npx(['inspect', 'a'])).toMatchObject({ code: 0 });
    expect(await npx(['release', 'a', '--yes'])).toMatchObject({
      code: 0,
      stdout: 'Lock "a" was released.\n',
    });
    expect((await npx(['list'])).stdout).toBe('No lock is held.\n');
    const doctor = await npx(['doctor']);
    expect(doctor).toMatchObject({ code: 0, stdout: expect.stringMatching(/^0 problems/m) });
  }, 60_000);

  it('says in a sentence what is wrong, and shows no password', async () => {
    const url = 'redis://us3r:pl4ntedw0rd@127.0.0.1';
    const wrong = [
      [await npx(['list'], { REDIS_URL: `${url}:${redis.port}` }), 3, 'WRONGPASS'],
      [await npx(['list'], { REDIS_URL: `${url}#:1` }), 2, 'percent-encode'],
      [await npx(['inspect']), 2, 'inspect needs the key of a lock'],
      [await npx(['lst']), 2, 'There is no command "lst".'],
    ] as const;
    for (const [{ code, stdout, stderr }, ends, says] of wrong) {
      expect({ code, stdout }).toEqual({ code: ends, stdout: '' });
      expect(stderr).toContain(says);
      expect(stderr).not.toMatch(/us3r|pl4ntedw0rd|\n {4}at /);
    }
  }, 60_000);
});
