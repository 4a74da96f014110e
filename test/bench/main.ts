// `npm run bench`: all variants on all workloads, as tables here and as JSON in test/bench/results.
// `-- --quick` for a look; `-- --only <text>` for the workloads whose name contains it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { RedisProcess } from '../../tools/redis-server.js';
import { ADAPTERS } from './adapters/index.js';
import { machine } from './machine.js';
import { type Effort, measure } from './rounds.js';
import { type Summary, summary } from './summary.js';
import { table } from './table.js';
import { Worker } from './worker.js';
import { WORKLOADS } from './workloads/index.js';

const THOROUGH: Effort = { rounds: 5, warmUp: 200, window: 1_000 };
const QUICK: Effort = { rounds: 3, warmUp: 100, window: 300 };

const { values } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string', default: '' } },
});
const effort = values.quick ? QUICK : THOROUGH;
const workloads = WORKLOADS.filter(({ name }) => name.includes(values.only));

const where = machine();
const redis = await RedisProcess.start();
const workers = Array.from(
  { length: Math.max(...workloads.map(({ processes }) => processes)) },
  () => new Worker(),
);
const summaries: Summary[] = [];
try {
  process.stdout.write(`${JSON.stringify(where)}\n`);
  for (const workload of workloads) {
    const rounds = await measure(workload, ADAPTERS, workers, redis.url, effort);
    summaries.push(summary(workload, rounds));
    process.stdout.write(`\n${table(summaries.at(-1)!)}\n`);
  }
} finally {
  for (const worker of workers) worker.stop();
  await redis.stop();
}

mkdirSync('test/bench/results', { recursive: true });
const at = new Date().toISOString();
const file = `test/bench/results/${at.replaceAll(/[:.]/g, '-')}.json`;
writeFileSync(file, `${JSON.stringify({ at, machine: where, effort, summaries }, null, 2)}\n`);
process.stdout.write(`${file}\n`);
