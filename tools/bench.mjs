// Builds the library, turns the benchmark into modules that Node runs, and runs it; with `--builds <folder>…` compares builds that are there.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { transformSync } from '@swc/core';
import { globSync } from './glob.mjs';
import { installProject } from './install-project.mjs';

const TARGET = 'build/bench';

const [first, ...rest] = process.argv.slice(2);
const [main, given] =
  first === '--builds' ? ['builds/main.js', rest] : ['main.js', process.argv.slice(2)];

await installProject('test/bench');
if (first !== '--builds') execFileSync(process.execPath, ['tools/build.mjs'], { stdio: 'inherit' });
rmSync(TARGET, { recursive: true, force: true });
for (const file of [...globSync('test/bench', '.ts'), ...globSync('tools', '.ts')]) {
  if (/\.(d|spec)\.ts$/.test(file) || file.includes('node_modules')) continue;
  const { code } = transformSync(readFileSync(file, 'utf8'), { filename: file });
  const path = join(TARGET, file.replace(/\.ts$/, '.js'));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, code);
}
// Peers are found beside what was compiled, all else further up.
symlinkSync(resolve('test/bench/node_modules'), join(TARGET, 'node_modules'));
const args = ['--expose-gc', join(TARGET, 'test/bench', main), ...given];
const bench = spawn(process.execPath, args, { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => bench.kill(signal));
bench.once('exit', (code) => (process.exitCode = code ?? 1));
