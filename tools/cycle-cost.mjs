// Prints what the cycle of a free lock, acquire and release, costs beside SET NX PX and a compare-and-delete: in Redis, script
// by script, and in the client, by whose code runs, compiled and in a new process. Nothing else should run meanwhile. Takes two minutes.
import { printedBy } from './compiled.mjs';

const tables = JSON.parse(printedBy('test/support/cycle-cost-main.js'));
for (const [title, table] of Object.entries(tables)) {
  process.stdout.write(`${title}\n`);
  console.table(table);
}
