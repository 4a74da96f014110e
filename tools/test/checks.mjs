import { noOutcome } from './counts.mjs';
import { run } from './run.mjs';

/** Runs npm scripts, all at once: none of them keeps two processors busy. Each that fails counts as one failed test. */
export async function runChecks(names) {
  const outcome = noOutcome();
  process.stderr.write(`\n— ${names.join(', ')}\n`);
  await Promise.all(
    names.map(async (name) => {
      const code = await run('npm', ['run', '--silent', name]);
      if (code === 0) return;
      outcome.counts.failed += 1;
      outcome.complaints.push(`${name} failed`);
      process.stderr.write(`✗ ${name} failed\n`);
    }),
  );
  return outcome;
}
