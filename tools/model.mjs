// Verifies the model of the protocol (docs/model): npm run model. `--only <name>` does so with one model; `--mistake <words>` shows the
// shortest way in which a mistake breaks its promise.
import { parseArgs } from 'node:util';
import { hasSpin, verify } from './model/spin.mjs';
import { MODELS } from './model/table.mjs';

const { values: options } = parseArgs({
  options: { only: { type: 'string', default: '' }, mistake: { type: 'string' } },
});

if (!hasSpin()) {
  process.stderr.write('spin and cc are needed: apt-get install spin gcc libc6-dev\n');
  process.exit(1);
}
for (const { name, runs, mistakes } of MODELS.filter((model) => model.name.includes(options.only))) {
  if (options.mistake === undefined) for (const run of runs) await sound(name, run);
  for (const mistake of mistakes) {
    if (mistake.mistake.includes(options.mistake ?? '')) await broken(name, mistake);
  }
}

async function sound(name, run) {
  const found = await verify({ name, ...run });
  const bounds = Object.entries(run.bounds).map(([what, n]) => `${what.toLowerCase()} ${n}`);
  const title = `${name}, ${bounds.join(', ')}${run.progress ? ': progress' : ''}`;
  if (found.broken) process.exitCode = 1;
  print(found.broken === undefined, title, found);
}

async function broken(name, mistake) {
  const found = await verify({ name, ...mistake }, options.mistake !== undefined);
  const right = found.broken === mistake.breaks;
  if (!right) process.exitCode = 1;
  print(right, `${name}, ${mistake.mistake}: breaks ${found.broken ?? 'nothing'}`, found);
  for (const line of found.trail ?? []) process.stdout.write(`    ${line}\n`);
}

function print(right, title, { states, depth, seconds, megabytes }) {
  const figures = `${states} states, depth ${depth}, ${seconds} s, ${Math.round(megabytes)} MB`;
  process.stdout.write(`${right ? '✓' : '✗'} ${title} (${figures})\n`);
}
