// Compiles lib and the worker of the tests to plain modules that child processes can run, once per
// state of the sources, and prints where.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { transformSync } from '@swc/core';
import { globSync } from '../../tools/glob.mjs';
import { asModule } from '../../tools/lua.mjs';
import { asPageModule } from '../../tools/page.mjs';

const sources = [
  ...globSync('lib', '.ts'),
  ...globSync('lib', '.lua'),
  ...globSync('test/support', '.ts'),
  ...globSync('test/histories', '.ts'),
  ...globSync('tools', '.ts'),
].filter((file) => !file.endsWith('.d.ts'));
const state = createHash('sha1');
for (const file of sources) state.update(file).update(readFileSync(file));
const pages = globSync('lib', '.html').map((file) => [file, asPageModule(file, 'esm')]);
for (const [, code] of pages) state.update(code);
const target = join('build', `workers-${state.digest('hex').slice(0, 12)}`);

if (!existsSync(target)) {
  const draft = `${target}.${process.pid}`;
  for (const file of sources) {
    const text = readFileSync(file, 'utf8');
    const lua = file.endsWith('.lua');
    const code = lua
      ? asModule(text, 'esm')
      : transformSync(text, { filename: file, sourceMaps: 'inline' }).code;
    write(join(draft, lua ? `${file}.js` : file.replace(/\.ts$/, '.js')), code);
  }
  for (const [file, code] of pages) write(join(draft, `${file}.js`), code);
  try {
    renameSync(draft, target);
  } catch {
    rmSync(draft, { recursive: true }); // another test run was first
  }
}
process.stdout.write(target);

function write(path, code) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, code);
}
