import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { outsideNpm } from './outside-npm.js';
import { BUILDING, pack } from './packed.js';

const run = promisify(execFile);

/** What each says of an error of its own, of the other's, and of what is none. */
const PROGRAM = `
  const failure = (of) => new of.LockNotAcquiredError('k', 5);
  const foreign = [new Error('no'), null, undefined, 'no', {}, Object.create(null)];
  const classes = ['LockError', 'LockNotAcquiredError', 'LockStoreError'];
  const says = (of, error) => ({
    isLockError: of.isLockError(error),
    instanceOf: classes.filter((name) => error instanceof of[name]),
  });
  const of = (mine, other) => ({
    own: says(mine, failure(mine)),
    other: { ...says(mine, failure(other)), code: failure(other).code, key: failure(other).key },
    foreign: foreign.filter((value) => says(mine, value).isLockError || says(mine, value).instanceOf.length),
  });
  console.log(JSON.stringify({ same: a.LockError === b.LockError, a: of(a, b), b: of(b, a) }));`;

/** What an application says at its start, and a handler at its call. */
const OF_TWO = `
  import 'reflect-metadata';
  import { Controller, Get } from '@nestjs/common';
  import { Test } from '@nestjs/testing';
  import { Locked, LockedRequest } from 'nest-redis-lock';
  import { LockTestingModule } from 'second-copy/testing';
  const methodOf = ({ prototype }, ...all) => {
    for (const one of all) one(prototype, 'work', Object.getOwnPropertyDescriptor(prototype, 'work'));
  };
  class Service { async work() {} }
  methodOf(Service, Locked('a'));
  class Handlers { async work() {} }
  methodOf(Handlers, Get(), LockedRequest('a'));
  Controller()(Handlers);
  const errors = [];
  const built = (more) =>
    Test.createTestingModule({ imports: [LockTestingModule.forRoot()], ...more }).compile();
  await built({ providers: [Service] }).catch((error) => errors.push(error.message));
  const app = (await built({ controllers: [Handlers] })).createNestApplication();
  app.useLogger({ log() {}, warn() {}, error: ({ message }) => errors.push(message) });
  await app.listen(0);
  await fetch(await app.getUrl());
  await app.close();
  console.log(JSON.stringify(errors));`;

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

/** What a program says that loads the package so. */
async function said(imports: string): Promise<{ same: boolean; a: unknown; b: unknown }> {
  const main = join(folder, 'application', 'main.mjs');
  writeFileSync(main, imports + PROGRAM);
  const { stdout } = await run(process.execPath, [main], { env: outsideNpm() });
  return JSON.parse(stdout);
}

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
