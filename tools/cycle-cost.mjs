// Prints what the cycle of a free lock, acquire and release, costs beside SET NX PX and a compare-and-delete: in Redis, script
// by script, and in the client, by whose code runs. Nothing else should run meanwhile. Takes a minute.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const compiled = execFileSync(process.execPath, ['test/support/compile-workers.mjs'], {
  encoding: 'utf8',
});
const program = join(compiled, 'test/support/cycle-cost-main.js');
const tables = JSON.parse(execFileSync(process.execPath, [program], { encoding: 'utf8' }));
for (const [title, table] of Object.entries(tables)) {
  process.stdout.write(`${title}\n`);
  console.table(table);
}
