import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { takeFile, textOf } from '../../support/taken-file.js';

/**
 * A folder below .cache/peers that is made of some files, unless that was done since they changed. Of processes that come
 * at once the first makes it, and the others wait.
 */
export function madeOnce(
  name: string,
  sources: readonly string[],
  make: (folder: string) => void,
): string {
  const folder = resolve('.cache/peers', name);
  const stamp = join(folder, 'made');
  const wanted = sources.map((each) => readFileSync(each, 'utf8')).join('\n');
  const isMade = (): boolean => textOf(stamp) === wanted;
  if (isMade()) return folder;
  const lock = `${folder}.lock`;
  mkdirSync(dirname(folder), { recursive: true });
  while (!takeFile(lock)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  try {
    if (isMade()) return folder;
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    make(folder);
    writeFileSync(stamp, wanted);
    return folder;
  } finally {
    rmSync(lock);
  }
}

/** Runs a program to its end. Throws what it said where it fails. */
export function run(
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): string {
  const env = { ...process.env, ...options.env };
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    ...options,
    env,
    encoding: 'utf8',
  });
  if (status === 0) return stdout;
  throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? `${stderr}${stdout}`}`);
}

/** Makes what a peer needs; what is missing where that fails. */
export function prepared(name: string, make: () => void): string | undefined {
  try {
    make();
    return undefined;
  } catch (error) {
    return `${name} could not be made: ${String(error)}`;
  }
}
