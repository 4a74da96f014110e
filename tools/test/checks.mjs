import { run } from './run.mjs';

/** Runs npm scripts one after another; each that fails counts as one failed test. */
export async function runChecks(names) {
  let failed = 0;
  for (const name of names) {
    process.stderr.write(`\n— ${name}\n`);
    const code = await run('npm', ['run', '--silent', name]);
    if (code === 0) continue;
    failed += 1;
    process.stderr.write(`✗ ${name} failed\n`);
  }
  return { passed: 0, failed, skipped: 0 };
}
