// `npm run mutate`: plants small mistakes in lib, one at a time, and runs the specs that reach each.
// Options: --size 300, --seed 1, --jobs 2, --only <part of a file's name>, --id <mutant>, --list, --again (forgets what came of
// mutants before). What came of each stands in build/mutation, so a run that was stopped goes on where it was.
import cliProgress from 'cli-progress';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { allMutants, sampleOf } from './mutate/mutants.mjs';
import { Reach } from './mutate/reach.mjs';
import { writeReport } from './mutate/report.mjs';
import { Trial } from './mutate/trial.mjs';

const FOLDER = join('build', 'mutation');
const OUTCOMES = join(FOLDER, 'outcomes.json');

const { values: options } = parseArgs({
  options: {
    size: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    jobs: { type: 'string', default: '2' },
    only: { type: 'string', default: '' },
    id: { type: 'string' },
    list: { type: 'boolean', default: false },
    again: { type: 'boolean', default: false },
  },
});

mkdirSync(FOLDER, { recursive: true });
const every = allMutants().filter(({ file }) => file.includes(options.only));
const sample = options.id
  ? every.filter(({ id }) => id === options.id)
  : sampleOf(every, Number(options.size), options.seed);

if (options.list) {
  for (const { id, file, line, rule, was, text } of sample) {
    process.stdout.write(`${id} ${file}:${line} ${rule}: ${oneLine(was)} → ${oneLine(text)}\n`);
  }
} else {
  await run();
}

async function run() {
  const reach = new Reach(FOLDER);
  await reach.record((at, of, spec) => process.stderr.write(`reach ${at}/${of} ${spec}\n`));

  const outcomes =
    existsSync(OUTCOMES) && !options.again ? JSON.parse(readFileSync(OUTCOMES, 'utf8')) : {};
  const left = sample.filter(({ id }) => options.id || !(id in outcomes));
  const bar = new cliProgress.SingleBar(
    { format: '{bar} {value}/{total} mutants, {eta_formatted} left', noTTYOutput: true },
    cliProgress.Presets.shades_classic,
  );
  bar.start(left.length, 0);
  const worker = async (at) => {
    const trial = new Trial(join(FOLDER, `trial-${at}`));
    for (let mutant = left.shift(); mutant; mutant = left.shift()) {
      const specs = reach.specsFor(mutant);
      outcomes[mutant.id] = await trial.try(mutant, specs);
      writeFileSync(OUTCOMES, JSON.stringify(outcomes, undefined, 1));
      bar.increment();
    }
  };
  await Promise.all(Array.from({ length: Number(options.jobs) }, (_, at) => worker(at)));
  bar.stop();
  process.stdout.write(writeReport(sample, outcomes, FOLDER));
}

function oneLine(text) {
  return text.replaceAll(/\s+/g, ' ').slice(0, 70);
}
