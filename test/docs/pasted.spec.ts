import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { execFile, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Test } from '@nestjs/testing';
import { LockService, RedisLockModule } from 'nest-redis-lock';
import { freePort, RedisProcess } from '../../tools/redis-server.js';
import { outsideNpm } from '../package/outside-npm.js';
import { BUILDING, installPacked } from '../package/packed.js';
import { closeAll, closing } from '../support/closing.js';
import { until } from '../support/until.js';
import { examples } from './doc-comments.js';
import { blocksOf, PAGES, textOf } from './pages.js';

const exec = promisify(execFile);
const TSC = resolve('node_modules/.bin/tsc');

let folder: string;

/** What `nest new` makes (`test/package/new-application.spec.ts` asks it), beside the packed library. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'nest-redis-lock-docs-'));
  await installPacked(folder);
}, BUILDING);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('an empty Nest application', () => {
  it.each(['module', 'commonjs'])(
    'of type %s compiles every TypeScript block of every page as pasted',
    async (type) => {
      const app = application(type);
      const manifest = JSON.parse(readFileSync(join(app, 'package.json'), 'utf8')) as object;
      writeFileSync(join(app, 'package.json'), JSON.stringify({ ...manifest, type }));
      rmSync(join(app, 'src'), { recursive: true }); // its own files name each other as ES modules do
      for (const page of PAGES) {
        for (const { place, code } of blocksOf(page)) paste(app, `${place}.ts`, code);
      }
      expect(await complaints(app, '--noEmit')).toEqual([]);
    },
  );

  it('compiles the @example of every doc comment', async () => {
    const app = application('doc-comments');
    for (const { place, code } of examples()) paste(app, `${place}.ts`, code);
    expect(await complaints(app, '--noEmit')).toEqual([]);
  });

  it('would be told of a mistake in a block', async () => {
    const app = application('mistaken');
    paste(
      app,
      'wrong.ts',
      blocksOf('README.md')[0]!.code.replace('forRoot({', 'forRoot({ wiat: 1,'),
    );
    expect((await complaints(app, '--noEmit')).join()).toContain('wiat');
  });
});

describe('the first block of', () => {
  let redis: RedisProcess;
  let locks: LockService;

  beforeEach(async () => {
    redis = await RedisProcess.start();
    closing.push(() => redis.stop());
    const imports = [RedisLockModule.forRoot({ redis: redis.url })];
    const module = await (await Test.createTestingModule({ imports }).compile()).init();
    closing.push(() => module.close());
    locks = module.get(LockService);
  });

  afterEach(closeAll);

  /** An application whose `src/app.module.ts` the block is, built. */
  async function built(page: string): Promise<string> {
    const app = application(page.replaceAll(/\W/g, '-'));
    paste(app, 'app.module.ts', blocksOf(page)[0]!.code);
    expect(await complaints(app, '-p', 'tsconfig.build.json')).toEqual([]);
    return app;
  }

  /** The URLs of two replicas of it. */
  async function replicas(page: string): Promise<[string, string]> {
    const [app, env] = [await built(page), { REDIS_URL: redis.url }];
    return [await replica(app, env), await replica(app, env)];
  }

  async function replica(cwd: string, settings: Record<string, string>): Promise<string> {
    const port = await freePort();
    const env = outsideNpm({ REDIS_URL: undefined, ...settings, PORT: String(port) });
    const child = spawn(process.execPath, ['dist/main'], { cwd, env, stdio: 'ignore' });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    closing.push(() => (child.kill('SIGKILL'), ended));
    const url = `http://127.0.0.1:${port}`;
    await until('the replica listens', () => fetch(url).then(Boolean, () => false));
    return url;
  }

  const withdraw = (url: string): Promise<Response> =>
    fetch(`${url}/accounts/7/withdrawals`, { method: 'POST' });

  it('README.md runs: who comes while the lock is held elsewhere waits for it', async () => {
    const urls = await replicas('README.md');
    const elsewhere = await locks.acquire('account:7');
    const answers = urls.map(withdraw);
    await until('both wait', async () => (await locks.inspect('account:7')).waiting === 2);
    await elsewhere.release();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([201, 201]);
  });

  it('README.md runs without a Redis, too', async () => {
    const url = await replica(await built('README.md'), {});
    const answers = await Promise.all([withdraw(url), withdraw(url)]);
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
  });

  it('docs/start.md runs: who comes while another replica works gets the answer that the page shows', async () => {
    const [one, other] = await replicas('docs/start.md');
    const first = withdraw(one);
    await until('one works', async () => (await locks.inspect('account:7')).state === 'held');
    const second = await withdraw(other);
    const [, shown] = /^```json\n([^]*?)^```$/m.exec(textOf('docs/start.md'))!;
    expect([second.status, second.headers.get('retry-after'), await second.json()]).toEqual([
      409,
      '1',
      JSON.parse(shown!),
    ]);
    expect([(await first).status, await (await first).text()]).toEqual([201, '7 is done']);
  });
});

/** An empty application of its own. */
function application(name: string): string {
  const place = join(folder, name);
  cpSync('test/docs/bank', place, { recursive: true });
  return place;
}

function paste(app: string, file: string, code: string): void {
  const path = join(app, 'src', file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, code);
}

/** What the compiler has to say against an application. */
async function complaints(app: string, ...flags: string[]): Promise<string[]> {
  const compiling = exec(TSC, ['-p', 'tsconfig.json', ...flags], { cwd: app, env: outsideNpm() });
  return compiling.then(
    () => [],
    ({ stdout }: { stdout: string }) => stdout.trim().split('\n'),
  );
}
