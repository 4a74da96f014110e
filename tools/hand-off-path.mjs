// Prints where a hand-off between two processes spends its time: in who gives back, in Redis and on the way, in who is granted.
// Nothing else should run meanwhile. Takes 40 seconds.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const compiled = execFileSync(process.execPath, ['test/support/compile-workers.mjs'], {
  encoding: 'utf8',
});
const program = join(compiled, 'test/support/hand-off-path-main.js');
console.table(JSON.parse(execFileSync(process.execPath, [program], { encoding: 'utf8' })));
