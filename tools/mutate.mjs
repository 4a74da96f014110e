// `npm run mutate`: plants small mistakes in lib, one at a time, and runs the specs that reach each, until one test says so.
// Options: --size 300 and --seed 1 draw a sample; --only <part of a file's name>, --id <mutant> (again and again) choose among all.
// --state build/mutation is where everything is kept, so a run that was stopped goes on where it was; --minutes ends one early.
// --lanes 2 is how many mutants are tried at the same time; --budget 150 is how many recorded seconds of specs one mutant is worth; --specs takes only those with such paths. --survivors
// tries what survived on the specs that it has not been tried on; --again forgets what came of the chosen ones.
// --list prints the chosen, --record only records what the specs reach, --report only writes the report.
import cliProgress from 'cli-progress';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { inLanes } from './mutate/lanes.mjs';
import { allMutants, sampleOf } from './mutate/mutants.mjs';
import { Outcomes } from './mutate/outcomes.mjs';
import { Reach } from './mutate/reach.mjs';
import { writeReport } from './mutate/report.mjs';
import { Trial } from './mutate/trial.mjs';

const { values: options } = parseArgs({
  options: {
    size: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    id: { type: 'string', multiple: true },
    state: { type: 'string', default: join('build', 'mutation') },
    minutes: { type: 'string', default: '240' },
    lanes: { type: 'string', default: '2' },
    budget: { type: 'string', default: '150' },
    specs: { type: 'string', default: '' },
    survivors: { type: 'boolean', default: false },
    again: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    report: { type: 'boolean', default: false },
  },
});

const every = allMutants().filter(({ file }) => file.includes(options.only));
const chosen = options.id
  ? every.filter(({ id }) => options.id.includes(id))
  : sampleOf(every, Number(options.size), options.seed);
const outcomes = new Outcomes(options.state);

if (options.list) {
  for (const { id, file, line, rule, was, text } of chosen) {
    const came = outcomes.of(id)?.outcome ?? '';
    process.stdout.write(
      `${id} ${file}:${line} ${rule}: ${oneLine(was)} → ${oneLine(text)} ${came}\n`,
    );
  }
} else {
  if (!options.report) {
    const trials = Array.from(
      { length: Number(options.lanes) },
      (_, lane) => new Trial(join(options.state, `trial-${process.pid}-${lane}`)),
    );
    process.once('exit', () => trials.forEach((trial) => trial.end()));
    await run(trials);
  }
  if (!options.record) process.stdout.write(writeReport(chosen, outcomes, options.state));
}

async function run(trials) {
  const end = performance.now() + Number(options.minutes) * 60_000;
  const reach = new Reach(options.state, trials);
  await reach.record(new RegExp(options.specs), (at, of, spec, ms, green) =>
    process.stderr.write(`${at}/${of} ${spec} ${Math.round(ms)} ms${green ? '' : ' RED'}\n`),
  );
  if (options.record) return;

  if (options.again) for (const { id } of chosen) outcomes.forget(id);
  const left = chosen.filter(({ id }) => {
    const { outcome } = outcomes.of(id) ?? {};
    if (!outcome || outcome === 'unclear') return true;
    return options.survivors && (outcome === 'survived' || outcome === 'unreached');
  });
  const bar = new cliProgress.SingleBar(
    { format: '{bar} {value}/{total} mutants, {eta_formatted} left', noTTYOutput: true },
    cliProgress.Presets.shades_classic,
  );
  bar.start(left.length, 0);
  await inLanes(trials, left, async (trial, mutant) => {
    if (performance.now() > end) return;
    const tests = reach.testsFor(mutant, 1_000 * Number(options.budget), outcomes);
    outcomes.add(mutant, await trial.try(mutant, tests, outcomes.of(mutant.id)?.ran));
    bar.increment();
  });
  bar.stop();
}

function oneLine(text) {
  return text.replaceAll(/\s+/g, ' ').slice(0, 70);
}
