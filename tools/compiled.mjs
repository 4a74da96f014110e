// What test/support/compile-workers.mjs makes of lib and of the programs beside the tests.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** The folder of it. */
export const compiled = execFileSync(process.execPath, ['test/support/compile-workers.mjs'], {
  encoding: 'utf8',
});

/** What a program in it prints. */
export function printedBy(program) {
  return execFileSync(process.execPath, [join(compiled, program)], { encoding: 'utf8' });
}
