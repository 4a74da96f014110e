// `npm run histories`: see docs/decisions/073-histories-mix-all-kinds-of-locks.md and CONTRIBUTING.md.
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import cliProgress from 'cli-progress';
import { RedisProcess } from '../../tools/redis-server.js';
import { described, type Plan, planOf } from './plan.js';
import { resultsPage } from './results.js';
import { type Outcome, runHistory } from './run-history.js';
import { shortened } from './shorten.js';

const { values: options } = parseArgs({
  options: {
    from: { type: 'string', default: '0' },
    size: { type: 'string', default: '1200' },
    operations: { type: 'string', default: '900' },
    seed: { type: 'string' },
    only: { type: 'string', default: '' },
    minutes: { type: 'string', default: '600' },
    'at-once': { type: 'string', default: '4' },
    state: { type: 'string', default: join('build', 'histories') },
    plant: { type: 'string' },
    strokes: { type: 'string' },
    callers: { type: 'string' },
    shorten: { type: 'boolean', default: false },
    again: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    results: { type: 'string', default: join('docs', 'faults', 'results.md') },
  },
});
/** The histories that are meant, by their seeds. */
const wanted = Array.from({ length: Number(options.size) }, (_, at) => Number(options.from) + at);
const demands = {
  operations: Number(options.operations),
  journals: join(options.state, 'journals'),
};

/** Histories that were played, of this state of the sources. */
class Played {
  readonly #file: string;
  readonly outcomes = new Map<number, Outcome>();

  constructor(folder: string) {
    const sources = process.env['HISTORIES_OF']!;
    mkdirSync(folder, { recursive: true });
    this.#file = join(folder, `${sources}.jsonl`);
    if (options.again || !existsSync(this.#file)) writeFileSync(this.#file, '');
    for (const line of readFileSync(this.#file, 'utf8').split('\n').slice(0, -1)) {
      this.#know(JSON.parse(line) as Outcome);
    }
  }

  add({ plan, operations, sections, recoveries, violations, seconds }: Outcome): void {
    const outcome = { plan, operations, sections, recoveries, violations, seconds };
    appendFileSync(this.#file, `${JSON.stringify(outcome)}\n`);
    this.#know(outcome);
  }

  #know(outcome: Outcome): void {
    this.outcomes.set(outcome.plan.seed, outcome);
  }
}

/** How many violations of a check are said. */
const SAID = 5;

/** Each begins with the name of its check. */
function byCheck(violations: readonly string[]): Map<string, string[]> {
  const checks = new Map<string, string[]>();
  for (const violation of violations) {
    const check = violation.split(':', 1)[0]!;
    checks.set(check, [...(checks.get(check) ?? []), violation]);
  }
  return checks;
}

function say(outcome: Outcome): void {
  const { plan, violations, recoveries, seconds } = outcome;
  const longest = Math.max(0, ...recoveries.map(({ ms }) => ms));
  process.stdout.write(
    `${violations.length === 0 ? '✓' : '✗'} ${described(plan)}\n` +
      `  ${outcome.operations} operations, ${outcome.sections} grants, ${seconds.toFixed(1)} s, longest recovery ${longest} ms\n`,
  );
  for (const [check, found] of byCheck(violations)) {
    for (const violation of found.slice(0, SAID)) process.stdout.write(`    ${violation}\n`);
    const more = found.length - SAID;
    if (more > 0) process.stdout.write(`    ${check}: ${more} more\n`);
  }
  if (violations.length > 0) {
    process.stdout.write(`    journals: ${join(demands.journals, `seed-${plan.seed}`)}\n`);
  }
}

/** `work` beside a server without faults. */
async function withServer(work: (server: RedisProcess) => Promise<void>): Promise<void> {
  const server = await RedisProcess.start();
  try {
    await work(server);
  } finally {
    await server.stop();
  }
}

async function one(seed: number, resource: RedisProcess): Promise<void> {
  const plan = drawn(seed);
  const run = (chosen: Plan): Promise<Outcome> => runHistory(chosen, resource, demands);
  const outcome = await run(plan);
  say(outcome);
  process.exitCode = outcome.violations.length > 0 ? 1 : 0;
  if (outcome.violations.length === 0 || !options.shorten) return;
  const shortest = await shortened(plan, run, (_, found) => say(found));
  process.stdout.write(
    `shortest: --seed ${seed} --callers ${shortest.callers} --strokes '${JSON.stringify(shortest.strokes)}'\n`,
  );
}

async function all(): Promise<void> {
  const played = new Played(options.state);
  const chosen = wanted.filter((seed) => described(planOf(seed)).includes(options.only));
  const left = chosen.filter((seed) => !played.outcomes.has(seed));
  const end = performance.now() + Number(options.minutes) * 60_000;
  const bar = new cliProgress.SingleBar(
    {
      format: '{bar} {value}/{total} histories, {eta_formatted} left',
      noTTYOutput: true,
      notTTYSchedule: 30_000,
    },
    cliProgress.Presets.shades_classic,
  );
  bar.start(chosen.length, chosen.length - left.length);
  let failed = 0;
  const lane = async (resource: RedisProcess): Promise<void> => {
    while (left.length > 0 && performance.now() < end) {
      const seed = left.shift()!;
      try {
        const outcome = await runHistory(drawn(seed), resource, demands);
        played.add(outcome);
        if (outcome.violations.length > 0) say(outcome);
      } catch (error) {
        failed += 1; // the next start tries again
        process.stdout.write(`${described(planOf(seed))}\n  did not run: ${String(error)}\n`);
      }
      bar.increment();
    }
  };
  await Promise.all(Array.from({ length: Number(options['at-once']) }, () => withServer(lane)));
  bar.stop();
  const outcomes = chosen.flatMap((seed) => played.outcomes.get(seed) ?? []);
  const { page, violations, total } = resultsPage(outcomes, wanted);
  if (options.only === '') {
    mkdirSync(join(options.results, '..'), { recursive: true });
    writeFileSync(options.results, page);
  }
  process.stdout.write(`${total}\n`);
  process.exitCode = violations === 0 && failed === 0 ? 0 : 1;
}

/** What is drawn for a number, but for what the options say. */
function drawn(seed: number): Plan {
  const { plant, strokes, callers } = options;
  return {
    ...planOf(seed),
    ...(plant && { plant: plant as NonNullable<Plan['plant']> }),
    ...(strokes && { strokes: JSON.parse(strokes) as string[] }),
    ...(callers && { callers: Number(callers) }),
  };
}

if (options.list) {
  for (const seed of wanted) {
    const line = described(planOf(seed));
    if (line.includes(options.only)) process.stdout.write(`${line}\n`);
  }
} else {
  await (options.seed === undefined
    ? all()
    : withServer((resource) => one(Number(options.seed), resource)));
}
