// `npm run bench`: all variants on all workloads, as tables here and as JSON in test/bench/results.
// `-- --quick` for a look; `-- --only <text>` for the workloads whose name contains it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { RedisProcess } from '../../tools/redis-server.js';
import { ADAPTERS } from './adapters/index.js';
import { QUICK, THOROUGH } from './effort.js';
import { Fleet } from './fleet.js';
import { machine } from './machine.js';
import { summaryTable } from './report/summary-table.js';
import { measure } from './rounds.js';
import { type Summary, summary } from './summary.js';
import { WORKLOADS } from './workloads/index.js';

const { values } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string', default: '' } },
});
const effort = values.quick ? QUICK : THOROUGH;
const workloads = WORKLOADS.filter(({ name }) => name.includes(values.only));

const where = machine();
const redis = await RedisProcess.start();
const site = { fleet: new Fleet(redis.pid), url: redis.url };
const summaries: Summary[] = [];
try {
  process.stdout.write(`${JSON.stringify(where)}\n`);
  for (const workload of workloads) {
    summaries.push(summary(workload, await measure(workload, ADAPTERS, site, effort)));
    process.stdout.write(`\n${summaryTable(summaries.at(-1)!)}\n`);
  }
} finally {
  site.fleet.stop();
  await redis.stop();
}

mkdirSync('test/bench/results', { recursive: true });
const at = new Date().toISOString();
const file = `test/bench/results/${at.replaceAll(/[:.]/g, '-')}.json`;
writeFileSync(file, `${JSON.stringify({ at, machine: where, effort, summaries }, null, 2)}\n`);
process.stdout.write(`${file}\n`);
