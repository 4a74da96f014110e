import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { filesBelow } from '../architecture/files-below.js';
import { takeFile } from '../support/taken-file.js';
import { outsideNpm } from './outside-npm.js';

const run = promisify(execFile);

/** What a package is made of: everything that `npm pack` and its build read. */
const SOURCES = [
  'lib',
  'tools',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'LICENSE',
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'docs',
];

/** How long to build it may take, in ms: minutes, where others have the processors. */
export const BUILDING = 600_000;

/** Packages that were built before, each under the digest of its sources. */
const KEPT = resolve('.cache/packed');

/** Without what is installed, and what each build of the site makes anew below docs/, perhaps now. */
const isOurs = (path: string): boolean =>
  !/(^|\/)node_modules(\/|$)|^docs\/(api|\.vitepress\/cache)(\/|$)/.test(path);

/**
 * The library, built and packed as a release does, in a tarball below `folder`. It is built once for the same sources:
 * of processes that ask at once the others wait.
 */
export async function pack(folder: string): Promise<string> {
  const kept = join(KEPT, `${digest()}.tgz`);
  const building = `${kept}.building`;
  mkdirSync(KEPT, { recursive: true });
  while (!existsSync(kept)) {
    if (!takeFile(building)) {
      await sleep(100);
      continue;
    }
    try {
      if (!existsSync(kept)) await build(folder, kept);
    } finally {
      rmSync(building, { force: true });
    }
  }
  const tarball = join(folder, 'nest-redis-lock.tgz');
  cpSync(kept, tarball);
  return tarball;
}

/** Puts the packed library into `folder`, beside all that is installed here. */
export async function installPacked(folder: string): Promise<void> {
  await run('tar', ['-xzf', await pack(folder), '-C', folder]);
  const packages = join(folder, 'node_modules');
  mkdirSync(packages);
  for (const name of readdirSync('node_modules')) {
    symlinkSync(resolve('node_modules', name), join(packages, name));
  }
  renameSync(join(folder, 'package'), join(packages, 'nest-redis-lock'));
}

/** Of the names and the content of all sources. */
function digest(): string {
  const hash = createHash('sha256');
  for (const source of SOURCES) {
    const files = statSync(source).isFile() ? [source] : filesBelow(source, '').filter(isOurs);
    for (const file of files.sort()) hash.update(`${file}\n`).update(readFileSync(file));
  }
  return hash.digest('hex').slice(0, 16);
}

/** Builds and packs in a copy of the sources below `folder`. */
async function build(folder: string, kept: string): Promise<void> {
  const copy = join(folder, 'sources');
  mkdirSync(copy, { recursive: true });
  for (const source of SOURCES) {
    cpSync(source, join(copy, source), { recursive: true, filter: isOurs });
  }
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'));
  const { stdout } = await run('npm', ['pack', '--pack-destination', folder], {
    cwd: copy,
    env: outsideNpm(),
  });
  const others = readdirSync(KEPT).filter((name) => !name.startsWith(basename(kept)));
  for (const old of others) rmSync(join(KEPT, old), { force: true });
  const own = `${folder}/${stdout.trim().split('\n').at(-1)!}`;
  const half = `${kept}.${process.pid}`;
  cpSync(own, half);
  renameSync(half, kept); // nobody sees half of it
}
