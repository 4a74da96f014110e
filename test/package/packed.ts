import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { outsideNpm } from './outside-npm.js';

const run = promisify(execFile);

/** What a package is made of: everything that `npm pack` and its build read. */
const SOURCES = [
  'lib',
  'tools',
  'package.json',
  'tsconfig.json',
  'tsconfig.esm.json',
  'tsconfig.cjs.json',
  'LICENSE',
  'README.md',
  'CHANGELOG.md',
  'docs',
];

/** Builds and packs the library in a copy of its sources below `folder`, as a release does. Answers with the tarball. */
export async function pack(folder: string): Promise<string> {
  const copy = join(folder, 'sources');
  // Of docs/, `api` is made anew by each build of the site, perhaps now.
  const filter = (path: string): boolean => !['node_modules', 'api'].includes(basename(path));
  mkdirSync(copy, { recursive: true });
  for (const source of SOURCES) {
    if (existsSync(source)) cpSync(source, join(copy, source), { recursive: true, filter });
  }
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'));
  const { stdout } = await run('npm', ['pack', '--pack-destination', folder], {
    cwd: copy,
    env: outsideNpm(),
  });
  return join(folder, stdout.trim().split('\n').at(-1)!);
}
