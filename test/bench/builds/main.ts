// `npm run bench:builds -- <folder> <folder>…`: builds of this library (folders with a dist) beside raw ioredis, compared by
// processor time, so that it tells on a busy machine, too. What follows the first build is compared with it.
// `. .@subscriber .@prometheus .@metrics .@traces`: what it costs to watch the locks of a build (watchers.ts).
// `--rounds <n>`; `--ioredis 5`; `--only <text>`: rows that have it in their names. Nothing is built or published.
import { parseArgs } from 'node:util';
import { RedisProcess } from '../../../tools/redis-server.js';
import { percentile } from '../measure/statistics.js';
import { number, table } from '../report/table.js';
import { Side } from './side.js';
import type { Cost, Work } from './work.js';

const WORKS: readonly Work[] = [
  { name: '1 at a time, new keys', width: 1, cycles: 1_500, keys: 'new' },
  { name: '16 at a time, new keys', width: 16, cycles: 8_000, keys: 'new' },
  { name: '256 at a time, new keys', width: 256, cycles: 16_000, keys: 'new' },
  { name: '256 at a time, same keys', width: 256, cycles: 16_000, keys: 'same' },
  { name: 'hot key × 64', width: 64, cycles: 60_000, keys: 'one' },
];
const TITLES: Readonly<Record<keyof Cost, string>> = {
  client: 'client CPU µs',
  server: 'Redis CPU µs',
  bytes: 'bytes to Redis',
  reads: 'reads by Redis',
  wall: 'wall µs',
};

const { values, positionals: builds } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '12' },
    ioredis: { type: 'string', default: '6' },
    only: { type: 'string', default: '' },
  },
});
if (builds.length === 0) throw new Error('Name at least one folder that has a dist.');

const server = await RedisProcess.start();
const sides: Side[] = [];
process.once('exit', () => sides.forEach((side) => side.stop()));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
try {
  for (const name of ['raw', 'raw + autopipelining', ...builds]) {
    sides.push(await Side.open(name, server.url, values.ioredis));
  }
  for (const work of WORKS.filter(({ name }) => name.includes(values.only))) await compare(work);
} finally {
  await server.stop();
  sides.forEach((side) => side.stop());
}

/** All sides in turns, every second round in the opposite order; the first round is not counted. */
async function compare(work: Work): Promise<void> {
  const able = sides.filter((side) => work.keys !== 'one' || builds.includes(side.name));
  const costs = new Map<Side, Cost[]>(able.map((side) => [side, []]));
  for (let round = 0; round <= Number(values.rounds); round += 1) {
    for (const side of round % 2 === 0 ? able : able.toReversed()) {
      const cost = await side.do(work);
      if (round > 0) costs.get(side)!.push(cost);
    }
  }
  const low = (side: Side | undefined, figure: keyof Cost): number =>
    percentile(costs.get(side!)?.map((cost) => cost[figure]) ?? [], 0.25);
  const [raw, first] = ['raw', builds[0]].map((name) => able.find((side) => side.name === name));
  const figures = Object.keys(TITLES) as (keyof Cost)[];
  const head = [
    'lower quartiles a cycle',
    ...figures.flatMap((figure) => [TITLES[figure], '× raw', '× first']),
  ];
  const rows = able.map((side) => [
    side.name,
    ...figures.flatMap((figure) => {
      const value = low(side, figure);
      return [value, value / low(raw, figure), value / low(first, figure)].map(number);
    }),
  ]);
  process.stdout.write(`\n### ${work.name}\n\n${table(head, rows)}`);
}
