// Verifies the model of the protocol, docs/model: npm run model. `-- --only <name>` takes one model, `--mistake <words>` only the
// mistakes with these words in their names, and prints the shortest way in which each breaks its promise.
import { parseArgs } from 'node:util';
import { missingTools, verify } from './model/spin.mjs';
import { MODELS } from './model/table.mjs';

const { values: options } = parseArgs({
  options: { only: { type: 'string', default: '' }, mistake: { type: 'string' } },
});

const missing = missingTools();
if (missing) {
  process.stderr.write(`${missing}\n`);
  process.exit(1);
}
for (const { name, runs, mistakes } of MODELS.filter(({ name }) => name.includes(options.only))) {
  if (options.mistake === undefined) for (const run of runs) await sound(name, run);
  for (const mistake of mistakes) {
    if (mistake.mistake.includes(options.mistake ?? '')) await broken(name, mistake);
  }
}

async function sound(name, run) {
  const found = await verify({ name, ...run });
  const bounds = Object.entries(run.bounds).map(([what, n]) => `${what.toLowerCase()} ${n}`);
  const title = `${name}, ${bounds.join(', ')}${run.progress ? ': progress' : ''}`;
  if (!found.broken) return print(true, title, found);
  print(false, `${title}: breaks ${found.broken}`, found);
  tell(await verify({ name, ...run, trail: true }));
}

async function broken(name, mistake) {
  const trail = options.mistake !== undefined || mistake.trail;
  const found = await verify({ name, ...mistake, trail });
  const title = `${name}, ${mistake.mistake}: breaks ${found.broken ?? 'nothing'}`;
  print(found.broken === mistake.breaks, title, found);
  if (trail) tell(found);
}

function print(right, title, { states, depth, seconds, megabytes }) {
  const figures = `${states.toLocaleString('en')} states, depth ${depth}, ${seconds} s, ${Math.round(megabytes)} MB`;
  process.stdout.write(`${right ? '✓' : '✗'} ${title} (${figures})\n`);
  if (!right) process.exitCode = 1;
}

function tell({ trail = [] }) {
  for (const line of trail) process.stdout.write(`    ${line}\n`);
}
