// What `npm test` runs: the checks, then Jest once for each pair of majors, and the sum of their counts
// as the very last line. `--full` (FULL=1 for the tests) runs the counts that the design names.
import { runChecks } from './test/checks.mjs';
import { runJest } from './test/jest-run.mjs';
import { addOutcome, noOutcome, printOutcome } from './test/counts.mjs';
import { installPackages } from './test/packages.mjs';

const full = process.argv.includes('--full');
const started = Date.now();
/** When a run that hangs is ended, so that there is a count in any case. */
const deadline = started + (full ? 90 : 25) * 60_000;

/** In which ioredis has no part of its own: the full run repeats them for each of its majors too. */
const ONCE = [
  'test/faults/(bounded|contention|durability|hand-over|histories|leaders|leaks|minimum|replicas|skewed|split|stall|torn)',
  'test/contracts/(conditions|dead|expiry|extension|hand-over|hints|local|matrix|memory|optimistic|order|permits|planted|quorum|runs|simulation)',
];

/** Each in a process of its own: Jest remembers by path what is an ES module. */
const RUNS = [
  { nest: '12', ioredis: '6', folders: ['test'] },
  {
    nest: '12',
    ioredis: '5',
    folders: ['test/contracts', 'test/faults', 'test/fencing', 'test/nest'],
    skip: full ? [] : ONCE,
  },
  { nest: '11', ioredis: '5', folders: ['test/nest'] },
];

const total = noOutcome();
addOutcome(total, await runChecks(['typecheck', 'lint', 'format:check', 'build']));
await installPackages();
for (const run of RUNS) {
  addOutcome(total, await runJest(run, { full, limit: Math.max(1_000, deadline - Date.now()) }));
}
process.exitCode = total.counts.failed === 0 && total.counts.passed > 0 ? 0 : 1;
printOutcome(total, Date.now() - started);
