import { execFileSync } from 'node:child_process';

let folder: string | undefined;

/** Where lib and the programs of child processes stand as plain modules; compiled once for a test file. */
export function compiledWorkers(): string {
  folder ??= execFileSync(process.execPath, ['test/support/compile-workers.mjs'], {
    encoding: 'utf8',
  });
  return folder;
}
