import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { globSync } from '../glob.mjs';
import { asBuiltModule } from '../lua.mjs';
import { asPageModule } from '../page.mjs';

const exec = promisify(execFile);

/** Compiles lib/ into ES modules below `folder`, one for each TypeScript file, each Lua script and each page. */
export async function compile(folder) {
  await tsc(folder);
  for (const file of globSync('lib', '.lua')) write(folder, file, asBuiltModule(file));
  for (const file of globSync('lib', '.html')) write(folder, file, asPageModule(file, 'esm'));
}

function write(folder, file, code) {
  const target = `${file.replace(/^lib/, folder)}.js`;
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, code);
}

/** Writes the declarations of lib/, with their comments, below `folder`. */
export function compileTypes(folder) {
  return tsc(folder, '--declaration', '--emitDeclarationOnly', '--removeComments', 'false');
}

async function tsc(folder, ...flags) {
  const args = ['-p', 'tsconfig.build.json', '--outDir', folder, ...flags];
  await exec(join('node_modules', '.bin', 'tsc'), args).catch(({ stdout, message }) => {
    throw new Error(stdout || message);
  });
}
