// What `npm run test:servers` runs: what a server could answer otherwise, on each of tools/servers/servers.mjs, and what came
// of it as a table, which goes into docs/servers.md. `--server <words>` and `--part <words>` only those so named. The servers
// are kept in build/servers, or where SERVERS says.
import { parseArgs } from 'node:util';
import { addOutcome, noOutcome, printOutcome } from './test/counts.mjs';
import { runJest } from './test/jest-run.mjs';
import { getServer } from './servers/get-server.mjs';
import { keepResult } from './servers/results.mjs';
import { isTooOld, SERVERS } from './servers/servers.mjs';

const { values: options } = parseArgs({
  options: { server: { type: 'string', default: '' }, part: { type: 'string', default: '' } },
});

/** How long one part may take on one server, in ms. */
const LIMIT = 20 * 60_000;

const contracts = { nest: '12', ioredis: '6', folders: ['test/contracts'] };
const PARTS = [
  {
    ...contracts,
    name: 'contracts',
    env: { TOPOLOGIES: 'servers' },
    // Of no server, or of the usual one alone.
    skip: ['test/contracts/(history|keys|matrix|memory|option-pairs|planted|quorum|simulation)'],
  },
  {
    ...contracts,
    name: 'faults',
    folders: ['test/faults'],
    only: [
      'test/faults/(crash|network|outage-log|sentinel|server-errors|server-loss|unusable-servers)\\.',
    ],
  },
  {
    ...contracts,
    name: 'cluster',
    folders: ['test/faults'],
    only: ['test/faults/(cluster|cluster-parts|one-node-cluster)\\.'],
  },
  {
    ...contracts,
    name: 'TLS',
    folders: ['test/faults'],
    only: ['test/faults/(cluster-access|tls)\\.'],
    runsOn: ({ tls }) => tls,
  },
  { ...contracts, name: 'rights', folders: ['test/docs'], only: ['test/docs/rights'] },
  { ...contracts, name: 'start', folders: ['test/faults'], only: ['test/faults/version'] },
];
/** Those that are run now. */
const parts = PARTS.filter(({ name }) => name.includes(options.part));

const started = Date.now();
const total = noOutcome();
const rows = [];
for (const server of SERVERS.filter(({ name }) => name.includes(options.server))) {
  const row = [server.name];
  rows.push(row);
  let program;
  try {
    program = getServer(server);
  } catch (error) {
    row.push(`not to be had here: ${error.message.split('\n')[0]}`);
    continue;
  }
  for (const part of parts) {
    const { runsOn = () => true } = part;
    if ((isTooOld(server.name) && part.name !== 'start') || !runsOn(server)) {
      row.push('–');
      continue;
    }
    const from = Date.now();
    const name = `${server.name}: ${part.name}`;
    const env = { ...part.env, REDIS_SERVER: program };
    const outcome = await runJest({ ...part, name, env }, LIMIT);
    addOutcome(total, { ...outcome, times: [[name, Date.now() - from]] });
    const columns = PARTS.map((each) => each.name);
    keepResult(SERVERS, columns, server.name, part.name, outcome.counts);
    const { passed, failed } = outcome.counts;
    row.push(failed > 0 ? `${passed}, ✗ ${failed}` : String(passed));
  }
}
process.exitCode = total.counts.failed === 0 && total.counts.passed > 0 ? 0 : 1;
printTable([['', ...parts.map(({ name }) => name)], ...rows]);
printOutcome(total, Date.now() - started);

function printTable(table) {
  const lines = table.map(([name, ...cells]) =>
    [name.padEnd(14), ...cells.map((cell) => cell.padStart(12))].join('  '),
  );
  process.stdout.write(`\n${lines.join('\n')}\n`);
}
