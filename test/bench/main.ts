// `npm run bench`: all variants on all workloads, what decorators and watchers cost, and how costs grow; as tables
// here, as JSON in test/bench/results, and, when nothing was left out, as plots in docs/bench.
// `-- --quick` for a look; `-- --only <text>` for what has it in its name; `-- --rounds <n> --long-rounds <n>`;
// `-- --patience <s>`: how long it may wait for others to leave the machine alone;
// `-- --only <text> --again` publishes these instead of what was published of them;
// `-- --draw` only publishes the last thorough run again.
import { parseArgs } from 'node:util';
import { RedisProcess } from '../../tools/redis-server.js';
import { type Effort, PATIENCE, QUICK, SCALE, THOROUGH } from './effort.js';
import { Fleet } from './fleet.js';
import { FOOTPRINT, type Footprint, footprint } from './footprint.js';
import { machine } from './machine.js';
import { OVERHEADS, overhead } from './overhead/index.js';
import { footprintTable } from './report/footprint-table.js';
import { goalsTable } from './report/goals.js';
import { growthTable } from './report/growth-table.js';
import { Patience } from './measure/patience.js';
import { overheadTable } from './report/overhead-table.js';
import { publish } from './report/publish.js';
import { PUBLISHED, readResults, type Results, updated, writeResults } from './report/results.js';
import { summaryTable } from './report/summary-table.js';
import { watchedTable } from './report/watched-table.js';
import { measure, type Site } from './rounds.js';
import { growth } from './scale/curves.js';
import { SWEEPS } from './scale/sweeps.js';
import { growthSelection, leftOut, quickSelection, selection } from './selection.js';
import { summary } from './summary.js';
import { watched } from './watched/index.js';
import { WATCHED, type Watched } from './watched/rows.js';
import { sized, WORKLOADS } from './workloads/index.js';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    rounds: { type: 'string' },
    'long-rounds': { type: 'string' },
    patience: { type: 'string', default: String(PATIENCE / 1_000) },
    again: { type: 'boolean', default: false },
    draw: { type: 'boolean', default: false },
  },
});
const at = new Date().toISOString();
const file = `test/bench/results/${at.replaceAll(/[:.]/g, '-')}.json`;
const effort = values.quick ? QUICK : withRounds(THOROUGH);
const MOST_SERVERS = Math.max(...WORKLOADS.map(({ servers = 1 }) => servers));
const wanted = ({ name }: { name: string }): boolean => name.includes(values.only);
const inTime = ({ thorough }: { thorough?: true }): boolean => !(values.quick && thorough);

async function run(site: Site): Promise<Results> {
  const earlier = readResults(PUBLISHED)?.summaries ?? [];
  const where = { at, machine: machine(), effort };
  const results: Results = { ...where, summaries: [], overheads: [], watched: [], growths: [] };
  const say = (text: string): void => {
    process.stdout.write(`\n${text}\n`);
    writeResults(file, results);
  };
  say(JSON.stringify(where.machine));
  for (const workload of WORKLOADS.filter(wanted).filter(inTime)) {
    const measured = [...results.summaries, ...earlier];
    const all = selection(workload, measured);
    const chosen = values.quick ? await quickSelection(workload, measured, site) : all;
    const rounds = await measure(sized(workload, effort), chosen, site, effort);
    results.summaries.push(summary(workload, rounds));
    say(summaryTable(results.summaries.at(-1)!) + leftOut(chosen, all));
  }
  for (const one of OVERHEADS.filter(wanted)) {
    results.overheads.push(await overhead(one, effort.rounds * 2));
    say(overheadTable(results.overheads.at(-1)!));
  }
  for (const work of WATCHED.filter(wanted)) {
    const attempt = (): Promise<Watched> => watched(work, effort.rounds * 4, site);
    results.watched!.push((await site.patience.undisturbed(attempt)).result);
    say(watchedTable(results.watched!.at(-1)!));
  }
  if (wanted(FOOTPRINT)) {
    const attempt = async (): Promise<Footprint> => footprint(effort.pairs);
    results.footprint = (await site.patience.undisturbed(attempt)).result;
    say(footprintTable(results.footprint));
  }
  for (const sweep of SWEEPS.filter(wanted).filter(inTime)) {
    const adapters = growthSelection(sweep, [...results.summaries, ...earlier]);
    results.growths.push(await growth(sweep, adapters, site, SCALE));
    say(growthTable(results.growths.at(-1)!));
  }
  const late = [...WORKLOADS, ...SWEEPS].filter(wanted).filter((one) => !inTime(one));
  if (late.length > 0) say(`Left out: ${late.map(({ name }) => name).join('; ')}.`);
  say(goalsTable(results, false));
  return results;
}

function withRounds({ rounds, longRounds, ...rest }: Effort): Effort {
  return {
    ...rest,
    rounds: Number(values.rounds ?? rounds),
    longRounds: Number(values['long-rounds'] ?? longRounds),
  };
}

async function measureAll(): Promise<Results> {
  const servers: RedisProcess[] = [];
  while (servers.length < MOST_SERVERS) servers.push(await RedisProcess.start());
  const fleet = new Fleet(servers.map(({ pid }) => pid));
  const [url, ...others] = servers.map((server) => server.url) as [string, ...string[]];
  const hang = (urls: readonly string[]): (() => void) => {
    const hanging = servers.filter((server) => urls.includes(server.url));
    const signal = (name: NodeJS.Signals): void => hanging.forEach((server) => server.signal(name));
    signal('SIGSTOP');
    return () => signal('SIGCONT');
  };
  try {
    const patience = new Patience(values.quick ? 0 : Number(values.patience) * 1_000);
    return await run({ fleet, url, others, hang, patience });
  } finally {
    fleet.stop();
    await Promise.all(servers.map((server) => server.stop()));
  }
}

const everything = [...WORKLOADS, ...OVERHEADS, ...WATCHED, FOOTPRINT, ...SWEEPS];
if (!everything.some(wanted)) throw new Error(`Nothing has ${values.only} in its name.`);

// Told to stop: servers and replicas stop with us.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

if (values.draw) {
  publish(readResults(PUBLISHED)!);
} else {
  const results = await measureAll();
  if (values.again) publish(updated(readResults(PUBLISHED), results));
  else if (!values.quick && values.only === '') publish(results);
  process.stdout.write(`${file}\n`);
}
