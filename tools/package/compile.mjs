import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { globSync } from '../glob.mjs';
import { asBuiltModule } from '../lua.mjs';

const exec = promisify(execFile);

/** Compiles lib/ into ES modules below `folder`, one for each TypeScript file and each Lua script. */
export async function compile(folder) {
  await tsc(folder);
  for (const file of globSync('lib', '.lua')) {
    const target = `${file.replace(/^lib/, folder)}.js`;
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, asBuiltModule(file));
  }
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
