import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { outsideNpm } from './outside-npm.js';
import { BUILDING, installPacked } from './packed.js';
import { BUN, DENO, programOf } from './runtimes.js';

const exec = promisify(execFile);
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'nest-redis-lock-toolchains-'));
  await installPacked(folder);
}, BUILDING);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Nothing else in its class shows that names were kept. */
const LETTERS = ['lonelyLetter'];
const COMPACT = ['id', ...LETTERS];
const SHORTENED = ['word', 'onlyId', 'letter', 'otherLetter', ...COMPACT];

describe('@Locked takes the right lock or refuses where it stands, compiled by', () => {
  it.each<[string, string[], boolean]>([
    ['tsc', LETTERS, true],
    ['swc', LETTERS, true],
    ['swc without metadata', LETTERS, false],
    ['swc minified', SHORTENED, true],
    ['webpack', LETTERS, true],
    ['webpack without metadata', LETTERS, false],
    ['webpack in production mode', SHORTENED, true],
    ['esbuild', LETTERS, false],
    ['esbuild --minify', SHORTENED, false],
    ['esbuild --minify --keep-names', SHORTENED, false],
    ['esbuild --minify-identifiers', SHORTENED, false],
    ['esbuild --minify-whitespace', COMPACT, false],
    ['esbuild --minify with the library inside', SHORTENED, false],
  ])('%s', async (tool, refused, typed) => {
    const place = project(tool);
    await exec(process.execPath, ['compile.mjs', tool], { cwd: place, env: outsideNpm() });
    const outcomes = await run(place, ['out.mjs']);
    expectRefusedOnly(outcomes, refused, typed);
  });

  it('tsx', async () => {
    const tsx = resolve('node_modules/tsx/dist/cli.mjs');
    const outcomes = await run(project('tsx'), [tsx, 'main.ts']);
    expectRefusedOnly(outcomes, COMPACT, false);
  });

  it.each([
    ['esbuild', LETTERS, false],
    ['swc', LETTERS, true],
  ])('vitest with %s', async (compiler, refused, typed) => {
    const place = project(`vitest ${compiler}`);
    const vitest = resolve('node_modules/vitest/vitest.mjs');
    const config = `vitest.${compiler}.mjs`;
    await exec(process.execPath, [vitest, 'run', '--config', config], {
      cwd: place,
      env: outsideNpm(),
    });
    const outcomes = JSON.parse(readFileSync(join(place, 'outcomes.json'), 'utf8'));
    expectRefusedOnly(outcomes, refused, typed);
  });
});

if (process.env['FULL'] !== undefined) {
  for (const runtime of [BUN, DENO]) {
    const { name, args } = runtime;
    const { program, missing } = await programOf(runtime);
    if (missing !== undefined) {
      // oxlint-disable-next-line jest/no-disabled-tests
      it.skip(`@Locked does the same, run by ${name}: ${missing}`, () => {});
      continue;
    }
    describe('@Locked does the same, run by', () => {
      it.each([
        [name, false],
        [`${name} with metadata`, true],
      ])('%s', async (which, typed) => {
        const outcomes = await run(project(which, typed), [...args, 'main.ts'], program);
        expectRefusedOnly(outcomes, LETTERS, typed);
      });
    });
  }
}

/** A project of its own with the sources of the application. */
function project(name: string, emitDecoratorMetadata = false): string {
  const place = join(folder, name.replaceAll(/\W+/g, '-'));
  cpSync('test/package/toolchains', place, { recursive: true });
  const compilerOptions = { experimentalDecorators: true, emitDecoratorMetadata, target: 'es2022' };
  writeFileSync(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  writeFileSync(join(place, 'package.json'), '{ "type": "module" }');
  return place;
}

/** What the application says of each of its methods; it must neither fail nor complain. */
async function run(
  cwd: string,
  args: string[],
  program = process.execPath,
): Promise<Record<string, string>> {
  const { stdout, stderr } = await exec(program, args, {
    cwd,
    env: outsideNpm({ DENO_DIR: join(folder, 'deno'), DENO_NO_UPDATE_CHECK: '1' }),
    timeout: 120_000,
  });
  expect(stderr).toBe('');
  return JSON.parse(stdout.trim().split('\n').at(-1)!) as Record<string, string>;
}

function expectRefusedOnly(
  outcomes: Record<string, string>,
  refused: readonly string[],
  typed: boolean,
): void {
  /** All that is not right must have been refused where the decorator stands, with class, method and remedy. */
  const early = expect.stringMatching(/^refused: .*@Locked on \w+\.work .*(@LockKey|"returns")/);
  /** The compiler left a type that says nothing: it may be a Promise, so this shows at the call alone. */
  const late = expect.stringMatching(/^at the call: \w+\.work returned an observable.*"returns/);
  const others = Object.entries(outcomes).filter(([, outcome]) => outcome !== 'right');
  const all = typed ? refused : [...refused, 'forwarded', 'observable'];
  expect(Object.fromEntries(others)).toEqual({
    ...Object.fromEntries(all.map((name) => [name, early])),
    observableHidden: typed ? late : early,
  });
  expect(Object.keys(outcomes).length).toBeGreaterThan(15);
}
