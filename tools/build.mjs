// Builds dist/: for each format and entry point one file, what the entry points share in another, and their types; and the
// command line program in one file.
// What the compiler makes of lib/, file by file, stays in build/lib: tests that reach inside load it from there.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { bundleCode, bundleTypes } from './package/bundle.mjs';
import { bundleCommand } from './package/command.mjs';
import { compile, compileTypes } from './package/compile.mjs';
import { ENTRIES } from './package/entries.mjs';

const MODULES = 'build/lib';
const TYPES = 'build/types';
/** Which module format a folder of dist/ is in, in the words of rollup. */
const FORMATS = { esm: 'es', cjs: 'cjs' };

for (const folder of ['dist', MODULES, TYPES]) rmSync(folder, { recursive: true, force: true });
await Promise.all([compile(MODULES), compileTypes(TYPES)]);
await Promise.all([
  bundleCode(MODULES, ENTRIES, FORMATS),
  bundleTypes(TYPES, ENTRIES, FORMATS),
  bundleCommand('dist/cli.js'),
]);
mkdirSync('dist/cjs', { recursive: true });
writeFileSync('dist/cjs/package.json', '{ "type": "commonjs" }\n');
