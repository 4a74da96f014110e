import { hotKeyOneProcess } from '../workloads/hot-key-one-process.js';
import { hotKey } from '../workloads/hot-key-processes.js';
import { drained } from '../workloads/line-up.js';
import { memory } from '../workloads/memory.js';
import { quorum } from '../workloads/quorum.js';
import { renewed } from '../workloads/renewals.js';
import { type AtOnce, cold, newKeys, sameKeys } from '../workloads/uncontended.js';
import { OURS } from '../variants.js';
import { REFERENCES, WATCHED, type Watching } from '../watched/rows.js';
import { figureAt, type Place } from './place.js';
import type { Results } from './results.js';
import { number, table } from './table.js';

type Limit = { readonly most: number } | { readonly least: number };

/** What is to be reached, and which figure tells. */
export type Goal = Limit & {
  readonly what: string;
  readonly where: string;
  readonly measured: Place | ((results: Results) => number | undefined);
};

const NEVER_SEEN = { 'new keys': newKeys, 'new keys, fresh process': cold, 'same keys': sameKeys };
const MAJORS = [
  { on: 'ioredis 6', fenced: OURS.byDefault, unfenced: OURS.unfenced },
  { on: 'ioredis 5', fenced: OURS.on5, unfenced: OURS.unfencedOn5 },
];

/** Against raw ioredis of the same major. */
const againstRaw = Object.entries(NEVER_SEEN).flatMap(([keys, workload]) =>
  MAJORS.flatMap(({ on, fenced, unfenced }): Goal[] => {
    const where = `${keys}, ${on}`;
    const place = (atOnce: AtOnce, variant: string, figure: string): Place => ({
      workload: workload(atOnce),
      variant,
      figure,
      versus: 'raw',
    });
    const cycle = '1 at a time: cycle p50 / raw';
    return [
      { what: `${cycle}, fenced`, where, most: 1.1, measured: place(1, fenced, 'cycleP50') },
      { what: `${cycle}, unfenced`, where, most: 1.05, measured: place(1, unfenced, 'cycleP50') },
      { what: '16: rate / raw', where, least: 1, measured: place(16, fenced, 'perSecond') },
      { what: '256: rate / raw', where, least: 1.8, measured: place(256, fenced, 'perSecond') },
      {
        what: '256: client CPU / raw',
        where,
        most: 0.5,
        measured: place(256, fenced, 'cpuPerSection'),
      },
      {
        what: '256: Redis CPU / raw',
        where,
        most: 0.6,
        measured: place(256, fenced, 'serverCpuPerSection'),
      },
    ];
  }),
);

function ours(
  variant: string,
  workload: Place['workload'],
  figure: string,
  versus?: Place['versus'],
): Place {
  return { workload, variant, figure, ...(versus && { versus }) };
}

const leases = renewed(10_000);
const renewals: Goal[] = [
  {
    what: 'client CPU / best peer',
    where: leases.name,
    most: 0.55,
    measured: ours(OURS.byDefault, leases, 'cpuShare', 'peer'),
  },
  {
    what: 'Redis CPU / best peer',
    where: leases.name,
    most: 0.55,
    measured: ours(OURS.byDefault, leases, 'serverCpuShare', 'peer'),
  },
  {
    what: 'lost leases',
    where: leases.name,
    most: 0,
    measured: ours(OURS.byDefault, leases, 'lost'),
  },
];

const ACROSS = { [OURS.byDefault]: 1.3, [OURS.strict]: 1.15 };
const IDLE = { [OURS.byDefault]: 0.12, [OURS.strict]: 0.25 };
const SECTIONS = { [OURS.byDefault]: 1.2, [OURS.strict]: 1 };
const pauses = hotKey(4, '10 ms think time', 10);
const noPauses = hotKey(4, 'no think time', 0);
const processes: Goal[] = [OURS.byDefault, OURS.strict].flatMap((variant): Goal[] => [
  ...[pauses, noPauses].map((workload) => ({
    what: `${variant}: to another process p50 / floor`,
    where: workload.name,
    most: ACROSS[variant]!,
    measured: ours(variant, workload, 'acrossP50', 'floor'),
  })),
  {
    what: `${variant}: idle share`,
    where: pauses.name,
    most: IDLE[variant]!,
    measured: ours(variant, pauses, 'idleShare'),
  },
  {
    what: `${variant}: sections/s / best peer`,
    where: noPauses.name,
    least: SECTIONS[variant]!,
    measured: ours(variant, noPauses, 'perSecond', 'peer'),
  },
]);

const [votes, votesHot, hanging] = quorum as [
  Place['workload'],
  Place['workload'],
  Place['workload'],
];
const quorums: Goal[] = [
  {
    what: 'sections/s / best peer',
    where: votes.name,
    least: 1,
    measured: ours(OURS.byDefault, votes, 'perSecond', 'peer'),
  },
  {
    what: 'sections/s / best peer',
    where: votesHot.name,
    least: 5,
    measured: ours(OURS.byDefault, votesHot, 'perSecond', 'peer'),
  },
  {
    what: 'acquire p50 / all up',
    where: hanging.name,
    most: 1,
    measured: ours(OURS.byDefault, hanging, 'toHealthy'),
  },
];

const footprint: Goal[] = [
  {
    what: 'import / peers alone, wall time',
    where: 'the package',
    most: 1.1,
    measured: (results) => results.footprint?.wall.ratio,
  },
  {
    what: 'files in the tarball',
    where: 'the package',
    most: 60,
    measured: (results) => results.footprint?.files,
  },
  {
    what: 'unpacked, MB',
    where: 'the package',
    most: 1.5,
    measured: ({ footprint: found }) => found && found.unpacked / 1e6,
  },
];

/** The published run of 2026-11-22, before this step: against the best peer. Runs differ by a tenth. */
const BEFORE = { hotKey: 63.3, hotKeyStrict: 6.81, waiters: 88.1, waitersStrict: 52.8 };
const hot = hotKeyOneProcess.find(({ callers }) => callers === 64)!;
const crowd = drained(5_000);
const notSlower: Goal[] = (
  [
    [OURS.byDefault, hot, BEFORE.hotKey],
    [OURS.strict, hot, BEFORE.hotKeyStrict],
    [OURS.byDefault, crowd, BEFORE.waiters],
    [OURS.strict, crowd, BEFORE.waitersStrict],
  ] as const
).map(([variant, workload, before]) => ({
  what: `${variant}: rate / best peer, as before`,
  where: workload.name,
  least: before * 0.9,
  measured: ours(variant, workload, 'perSecond', 'peer'),
}));

/** Watchers by their rows, the first within the scatter. */
const WATCHERS: readonly [who: string, versus: keyof Watching['ratios'], most: number][] = [
  [REFERENCES.quiet, 'bare', 1.05],
  ['prometheus', 'quiet', 1.1],
  ['opentelemetry metrics', 'quiet', 1.1],
  ['opentelemetry traces', 'quiet', 1.3],
];
const watchers: Goal[] = WATCHED.flatMap(({ name: where }) =>
  WATCHERS.map(([who, versus, most]) => ({
    what: `${who} / ${REFERENCES[versus]}, client CPU`,
    where,
    most,
    measured: ({ watched = [] }: Results): number | undefined => {
      const costs = watched.find(({ name }) => name === where)?.costs;
      return costs?.find(({ name }) => name === who)?.ratios[versus];
    },
  })),
);

export const GOALS: readonly Goal[] = [
  ...againstRaw,
  ...renewals,
  ...processes,
  {
    what: 'MB more in Redis',
    where: memory.name,
    most: 2,
    measured: allKeys,
  },
  ...footprint,
  ...quorums,
  {
    what: '@Locked over locks.withLock, CPU µs',
    where: '@Locked on a provider method',
    most: 3,
    measured: decorated,
  },
  ...watchers,
  ...notSlower,
];

/** A goal, and what came of it: undefined where it was not measured. */
export interface Outcome {
  readonly what: string;
  readonly where: string;
  readonly limit: string;
  readonly figure?: number | undefined;
  readonly met?: boolean | undefined;
}

export function outcomes(results: Results, goals: readonly Goal[] = GOALS): Outcome[] {
  return goals.map((goal) => {
    const { what, where, measured } = goal;
    const figure = typeof measured === 'function' ? measured(results) : figureAt(results, measured);
    const met =
      figure === undefined
        ? undefined
        : 'most' in goal
          ? figure <= goal.most
          : figure >= goal.least;
    const limit = 'most' in goal ? `≤ ${number(goal.most)}` : `≥ ${number(goal.least)}`;
    return { what, where, limit, figure, met };
  });
}

/** Of all, or of those that were measured: nothing, if none was. */
export function goalsTable(results: Results, all: boolean): string {
  const shown = outcomes(results).filter(({ met }) => all || met !== undefined);
  if (shown.length === 0) return '';
  const rows = shown.map(({ what, where, limit, figure, met }) => [
    what,
    where,
    limit,
    number(figure),
    met === undefined ? 'not measured' : met ? 'met' : '**not met**',
  ]);
  return `## Goals\n\n${table(['goal', 'where', 'limit', 'figure', ''], rows)}`;
}

/** Fewer keys, as in a quick run, prove nothing. */
function allKeys(results: Results): number | undefined {
  const place = ours(OURS.byDefault, memory, 'grown');
  const keys = figureAt(results, { ...place, figure: 'keys' }) ?? 0;
  return keys >= memory.keys ? figureAt(results, place) : undefined;
}

function decorated({ overheads }: Results): number | undefined {
  return overheads.flatMap(({ costs }) => costs).find(({ name }) => name === '@Locked')?.more;
}
