import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { outsideNpm } from './outside-npm.js';
import { BUILDING, pack } from './packed.js';
import { OF_TWO, PROGRAM } from './programs-of-two-copies.js';

const run = promisify(execFile);

let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'nest-redis-lock-copies-'));
  const tarball = await pack(folder);
  await run('tar', ['-xzf', tarball, '-C', folder]);
  const modules = join(folder, 'application', 'node_modules');
  mkdirSync(modules, { recursive: true });
  for (const copy of ['nest-redis-lock', 'second-copy']) {
    cpSync(join(folder, 'package'), join(modules, copy), { recursive: true });
  }
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
}, BUILDING);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('two copies of the package', () => {
  it('know each other’s errors as those of a lock, and are instances of their own classes alone', async () => {
    const one = {
      own: { isLockError: true, instanceOf: ['LockError', 'LockNotAcquiredError'] },
      other: { isLockError: true, instanceOf: [], code: 'LOCK_NOT_ACQUIRED', key: 'k' },
      foreign: [],
    };
    const two = await said(`
      import * as a from 'nest-redis-lock';
      import * as b from 'second-copy';`);
    expect(two).toEqual({ same: false, a: one, b: one });
  });

  it('are named where one decorates what the other has the module for', async () => {
    const main = join(folder, 'application', 'nest.mjs');
    writeFileSync(main, OF_TWO);
    const { stdout } = await run(process.execPath, [main], { env: outsideNpm() });
    const remedy =
      'another copy of nest-redis-lock provides it. All must load one copy: "npm ls nest-redis-lock" shows them.';
    expect(JSON.parse(stdout)).toEqual([
      `@Locked or @LeaderOnly on Service.work needs a LockService, and ${remedy}`,
      `@LockedRequest needs a LockService, and ${remedy}`,
    ]);
  });

  it('are not made by import beside require', async () => {
    const { same } = await said(`
      import * as a from 'nest-redis-lock';
      import { createRequire } from 'node:module';
      const b = createRequire(import.meta.url)('nest-redis-lock');`);
    expect(same).toBe(true);
  });
});

/** What a program says that loads the package so. */
async function said(imports: string): Promise<{ same: boolean; a: unknown; b: unknown }> {
  const main = join(folder, 'application', 'main.mjs');
  writeFileSync(main, imports + PROGRAM);
  const { stdout } = await run(process.execPath, [main], { env: outsideNpm() });
  return JSON.parse(stdout);
}
