import type { Reference } from '../measure/figures.js';
import type { Row } from '../summary.js';
import { isPeer, OURS } from '../variants.js';
import { hotKeyOneProcess } from '../workloads/hot-key-one-process.js';
import { hotKey } from '../workloads/hot-key-processes.js';
import { drained } from '../workloads/line-up.js';
import { memory } from '../workloads/memory.js';
import { quorum } from '../workloads/quorum.js';
import { renewed } from '../workloads/renewals.js';
import { cold, newKeys, sameKeys } from '../workloads/uncontended.js';
import type { Workload } from '../workloads/workload.js';
import { figureOf, tableOf } from './place.js';
import type { Results } from './results.js';
import { number } from './table.js';

/** One row of what the pages quote: a figure of ours, and the best that a peer did at it. */
interface Headline {
  readonly what: string;
  readonly workload: Workload;
  readonly figure: string;
  readonly versus?: Reference;
  readonly better: 'more' | 'less';
  readonly said?: (value: number) => string;
  /** What is less is as good as nothing. */
  readonly least?: number;
}

const times = (value: number): string => `${number(value)} ×`;
const percent = (value: number): string => `${number(value * 100)} %`;
const ms = (value: number): string => `${number(value)} ms`;

const pauses = hotKey(4, '10 ms think time', 10);
const noPauses = hotKey(4, 'no think time', 0);
const leases = renewed(10_000);
const [votes, votesHot, hanging] = quorum as [Workload, Workload, Workload];

const RATE = { figure: 'perSecond', better: 'more' } as const;
const CYCLE = { figure: 'cycleP50', better: 'less' } as const;
const CLIENT = { figure: 'cpuPerSection', better: 'less' } as const;
const SERVER = { figure: 'serverCpuPerSection', better: 'less' } as const;
const BYTES = { figure: 'bytesPerSection', better: 'less' } as const;

const uncontended: Headline[] = [
  ...Object.entries({ 'new keys': newKeys, 'same keys': sameKeys, 'fresh process': cold }).flatMap(
    ([keys, at]): Headline[] => [
      { what: `1 at a time, ${keys}: cycle p50 / raw`, workload: at(1), versus: 'raw', ...CYCLE },
      { what: `16, ${keys}: rate / raw`, workload: at(16), versus: 'raw', ...RATE },
      { what: `256, ${keys}: rate / raw`, workload: at(256), versus: 'raw', ...RATE },
    ],
  ),
  {
    what: '256, new keys: rate / raw with autopipelining',
    workload: newKeys(256),
    versus: 'gathered',
    ...RATE,
  },
  { what: '256, new keys: client CPU / raw', workload: newKeys(256), versus: 'raw', ...CLIENT },
  { what: '256, new keys: Redis CPU / raw', workload: newKeys(256), versus: 'raw', ...SERVER },
  { what: '256, new keys: bytes to Redis / raw', workload: newKeys(256), versus: 'raw', ...BYTES },
];

const contended: Headline[] = [
  ...hotKeyOneProcess.slice(1).map((workload): Headline => ({
    what: `hot key, one process × ${workload.callers}: rate / best peer`,
    workload,
    versus: 'peer',
    ...RATE,
  })),
  ...Object.entries({ '10 ms pauses': pauses, 'no pauses': noPauses }).flatMap(
    ([how, workload]): Headline[] => [
      { what: `4 processes × 4, ${how}: rate / best peer`, workload, versus: 'peer', ...RATE },
      {
        what: `4 processes × 4, ${how}: to another process p50 / floor`,
        workload,
        figure: 'acrossP50',
        versus: 'floor',
        better: 'less',
      },
      {
        what: `4 processes × 4, ${how}: nobody holds the lock`,
        workload,
        figure: 'idleShare',
        better: 'less',
        said: percent,
      },
    ],
  ),
  {
    what: '4 processes × 4, no pauses: longest wait',
    workload: noPauses,
    figure: 'longestWait',
    better: 'less',
    said: ms,
  },
  { what: '5,000 waiters: rate / best peer', workload: drained(5_000), versus: 'peer', ...RATE },
];

const others: Headline[] = [
  {
    what: '10,000 leases, ttl 3 s: client CPU / best peer',
    workload: leases,
    figure: 'cpuShare',
    versus: 'peer',
    better: 'less',
  },
  {
    what: '10,000 leases, ttl 3 s: Redis CPU / best peer',
    workload: leases,
    figure: 'serverCpuShare',
    versus: 'peer',
    better: 'less',
  },
  {
    what: 'Redis memory after 1,000,000 keys were locked once, MB',
    workload: memory,
    figure: 'grown',
    better: 'less',
    said: number,
    least: 0.5,
  },
  { what: 'quorum of 5, uncontended: rate / best peer', workload: votes, versus: 'peer', ...RATE },
  { what: 'quorum of 5, hot key: rate / best peer', workload: votesHot, versus: 'peer', ...RATE },
  {
    what: 'quorum of 5, two hang: acquire p50 / all up',
    workload: hanging,
    figure: 'toHealthy',
    better: 'less',
  },
];

const COLUMNS = [OURS.byDefault, OURS.unfenced, OURS.strict];
const HEAD = '| | default | −fencing | `strict` | best peer |\n|---|---|---|---|---|\n';
const BEGIN = '<!-- written by npm run bench from bench/results.json -->';
const END = '<!-- until here -->';

/** Where the default is at least as good as raw and as every peer, and where it is not. */
export function headline(results: Results): string {
  const rows = [...uncontended, ...contended, ...others].flatMap((one) => rowOf(one, results));
  const text = (ahead: boolean): string =>
    HEAD +
    rows
      .filter((row) => row.ahead === ahead)
      .map(({ line }) => line)
      .join('');
  return `${BEGIN}\n\n**Ahead**, or level:\n\n${text(true)}\n**Not ahead**:\n\n${text(false)}\n${beside(results)}${END}`;
}

/** A difference of two measurements may come out below nothing. */
function more(us: number): string {
  return us > 0 ? `${number(us)} µs more` : 'no more';
}

/** What has no rival: import, size, decorator. */
function beside({ footprint, overheads }: Results): string {
  const locked = overheads.flatMap(({ costs }) => costs).find(({ more }) => more !== undefined);
  const costs = [
    ...(locked
      ? [`\`${locked.name}\` takes ${more(locked.more!)} of a processor than a call of the service`]
      : []),
    ...(footprint
      ? [
          `Importing the package with its peers takes ${times(footprint.wall.ratio)} as long as importing those`,
          `The tarball has ${footprint.files} files, ${number(footprint.unpacked / 1e6)} MB unpacked`,
        ]
      : []),
  ];
  return costs.length > 0 ? `**Beside locks**: ${costs.join('. ')}.\n\n` : '';
}

/** A page with the block of this run in the place of the one before. */
export function withHeadline(page: string, results: Results): string {
  const [from, until] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (from < 0 || until < from) throw new Error('The page has no place for the figures.');
  return page.slice(0, from) + headline(results) + page.slice(until + END.length);
}

/** None if it was not measured. */
function rowOf(one: Headline, results: Results): { line: string; ahead: boolean }[] {
  const { what, workload, versus, better, said = times, least = -Infinity } = one;
  const rows = tableOf(results, workload)?.rows ?? [];
  const valueOf = (row: Row): number | undefined => {
    const value = figureOf(row, one);
    return value !== undefined && value < least ? 0 : value;
  };
  const ofOurs = COLUMNS.map((variant) => {
    const row = rows.find((each) => each.variant === variant);
    return row && valueOf(row);
  });
  const [byDefault] = ofOurs;
  if (byDefault === undefined) return [];
  const peers = rows
    .filter(({ variant, figures }) => isPeer(variant) && !figures['lost'] && !figures['violations'])
    .flatMap((row) => valueOf(row) ?? []);
  const best = peers.length > 0 ? (better === 'more' ? Math.max : Math.min)(...peers) : undefined;
  const rivals = [best, ...(versus === 'raw' || versus === 'gathered' ? [1] : [])];
  const ahead = rivals.every(
    (rival) => rival === undefined || (better === 'more' ? byDefault >= rival : byDefault <= rival),
  );
  const cells = [...ofOurs, best].map((value) => (value === undefined ? '–' : said(value)));
  return [{ line: `| ${[what, ...cells].join(' | ')} |\n`, ahead }];
}
