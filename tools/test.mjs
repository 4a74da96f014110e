// What `npm test` runs: the checks, then Jest for each part of tools/test/parts.mjs, how long each took, and the sum of
// their counts as the very last line. `--full` runs instead what takes longer; `--part <words>` only the parts so named.
import { parseArgs } from 'node:util';
import { installProject } from './install-project.mjs';
import { addOutcome, noOutcome, printOutcome } from './test/counts.mjs';
import { runChecks } from './test/checks.mjs';
import { runJest } from './test/jest-run.mjs';
import { installPackages } from './test/packages.mjs';
import { PARTS, runsOf } from './test/parts.mjs';
import { getServer } from './servers/get-server.mjs';
import { SERVERS } from './servers/servers.mjs';

const { values: options } = parseArgs({
  options: { full: { type: 'boolean', default: false }, part: { type: 'string', default: '' } },
});
const started = Date.now();
/** When a run that hangs is ended, so that there is a count in any case; in CI, which ends what takes longer, the quick one sooner. */
const deadline = started + (process.env.CI && !options.full ? 16 : 66) * 60_000;

const total = noOutcome();
await timed('build', () => runChecks(['build']));
/** Reads what the tests run, beside them: a test often waits. */
const read = options.full
  ? undefined
  : timed('typecheck, lint, format', () => runChecks(['typecheck', 'lint', 'format:check']));
const parts = PARTS[options.full ? 'full' : 'quick'].filter(({ name }) =>
  name.includes(options.part),
);
await installPackages(parts);
for (const folder of parts.flatMap(({ projects = [] }) => projects)) await installProject(folder);
for (const run of runsOf(parts)) {
  await timed(run.name, () => runPart(run));
}
await read;
process.exitCode = total.counts.failed === 0 && total.counts.passed > 0 ? 0 : 1;
printOutcome(total, Date.now() - started);

/** A part that names a server is run on that one, and is skipped by name where it is not to be had. */
function runPart(part) {
  const limit = Math.max(1_000, deadline - Date.now());
  if (part.server === undefined) return runJest(part, limit);
  let program;
  try {
    program = getServer(SERVERS.find(({ name }) => name === part.server));
  } catch (error) {
    const outcome = noOutcome();
    outcome.counts.skipped += 1;
    outcome.skips.push(`${part.name}: not to be had here: ${error.message.split('\n')[0]}`);
    return outcome;
  }
  return runJest({ ...part, env: { ...part.env, REDIS_SERVER: program } }, limit);
}

async function timed(name, step) {
  const from = Date.now();
  const outcome = await step();
  addOutcome(total, { ...outcome, times: [[name, Date.now() - from]] });
}
