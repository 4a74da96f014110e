import { noOutcome } from './counts.mjs';
import { run } from './run.mjs';

/** Runs npm scripts one after another; each that fails counts as one failed test. */
export async function runChecks(names) {
  const outcome = noOutcome();
  for (const name of names) {
    process.stderr.write(`\n— ${name}\n`);
    const code = await run('npm', ['run', '--silent', name]);
    if (code === 0) continue;
    outcome.counts.failed += 1;
    outcome.complaints.push(`${name} failed`);
    process.stderr.write(`✗ ${name} failed\n`);
  }
  return outcome;
}
