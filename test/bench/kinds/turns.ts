import { violations } from '../measure/exclusion.js';
import { type Measure, VIOLATIONS } from '../measure/figures.js';
import { type HandOff, handOffs, idleShare } from '../measure/hand-off.js';
import { type Spent, spentFrom, sum } from '../measure/spent.js';
import { jain, median, percentile } from '../measure/statistics.js';
import { takeTurns, type Turns } from '../measure/take-turns.js';
import type { TurnsWorkload } from '../workloads/workload.js';
import { type Kind, type Part, WAITS_NOT } from './kind.js';

/** Callers take turns until the window is over. */
export const turns: Kind<TurnsWorkload, Turns & Spent & Part> = {
  long: false,

  timing: ({ cold }, { warmUp, window }) =>
    cold === undefined ? { warmUp, window } : { warmUp: 0, window: cold },

  refuses: ({ contended }, { waits }) => (contended && !waits ? WAITS_NOT : undefined),

  async play(client, { workload, index, window }) {
    const [spent, done] = await Promise.all([
      spentFrom(window.from),
      takeTurns(client, workload, index * workload.callers, window),
    ]);
    return { ...done, ...spent(), unfinished: 0 };
  },

  figures({ processes, callers, contended }, parts, { from, until }, server) {
    const all = parts.flatMap((part) => part.turns);
    const counted = all.filter(({ acquired }) => acquired < until);
    const perSecond = (count: number): number => (count / (until - from)) * 1_000;
    const waits = all.map(({ asked, acquired }) => acquired - asked);
    const { cpu, commands } = sum(parts);
    const shares = Array.from({ length: processes * callers }, () => 0);
    for (const { caller } of counted) shares[caller]! += 1;
    return {
      sections: counted.length,
      perSecond: perSecond(counted.length),
      cycleP50: median(all.map(({ asked, released }) => released - asked)),
      acquireP50: median(waits),
      acquireP99: percentile(waits, 0.99),
      cpuPerSection: cpu / all.length,
      serverCpuPerSection: server.cpu / all.length,
      bytesPerSection: server.bytes / all.length,
      commandsPerSection: commands / all.length,
      ...(contended && contention(handOffs(counted), callers, perSecond)),
      longestWait: percentile(waits, 1),
      longestToMedian: percentile(waits, 1) / median(waits),
      fairness: jain(shares),
      gaveUp: parts.reduce((total, part) => total + part.gaveUp, 0),
      violations: violations(all),
    };
  },

  measures({ contended, processes, inMemory, hanging = 0 }) {
    if (inMemory) return IN_MEMORY;
    return [
      {
        figure: 'perSecond',
        title: 'sections/s',
        better: 'more',
        versus: versus(contended || hanging > 0),
      },
      ...(contended ? [...CONTENDED, ...(processes > 1 ? ACROSS : [])] : []),
      ...(contended ? [] : hanging ? HANGING : UNCONTENDED),
      {
        figure: 'serverCpuPerSection',
        title: 'Redis CPU µs',
        ...(!contended && !hanging && { better: 'less', versus: ['raw', 'gathered'] }),
      },
      {
        figure: 'bytesPerSection',
        title: 'bytes to Redis',
        ...(!contended && { versus: ['raw'] }),
      },
      { figure: 'commandsPerSection', title: 'commands/section' },
      VIOLATIONS,
    ];
  },
};

function contention(
  steps: readonly HandOff[],
  callers: number,
  perSecond: (count: number) => number,
): Record<string, number> {
  const process = (caller: number): number => Math.floor(caller / callers);
  const awaited = steps.filter((step) => step.awaited);
  const across = awaited.filter(
    ({ before, after }) => process(before.caller) !== process(after.caller),
  );
  const changes = steps.filter(({ before, after }) => before.caller !== after.caller);
  return {
    handOffP50: median(awaited.map(({ idle }) => idle)),
    handOffP99: percentile(
      awaited.map(({ idle }) => idle),
      0.99,
    ),
    acrossP50: median(across.map(({ idle }) => idle)),
    idleShare: idleShare(steps),
    changesPerSecond: perSecond(changes.length),
  };
}

/** Raw ioredis neither waits for a lock nor does without a server. */
function versus(beyondRaw: boolean): Measure['versus'] {
  return beyondRaw ? ['peer'] : ['raw', 'gathered', 'peer'];
}

const CLIENT: Measure = { figure: 'cpuPerSection', title: 'client CPU µs' };
const IN_MEMORY: Measure[] = [
  { figure: 'perSecond', title: 'sections/s', better: 'more' },
  { figure: 'cycleP50', title: 'cycle p50 ms' },
  CLIENT,
  VIOLATIONS,
];
const UNCONTENDED: Measure[] = [
  { figure: 'cycleP50', title: 'cycle p50 ms', better: 'less', versus: ['raw'] },
  { figure: 'acquireP50', title: 'acquire p50 ms' },
  { figure: 'acquireP99', title: 'p99' },
  { ...CLIENT, better: 'less', versus: ['raw', 'gathered'] },
];
const HANGING: Measure[] = [
  { figure: 'acquireP50', title: 'acquire p50 ms' },
  { figure: 'acquireP99', title: 'p99' },
  { figure: 'healthyP50', title: 'p50 with all running' },
  { figure: 'toHealthy', title: 'p50 ÷ that' },
];
const CONTENDED: Measure[] = [
  { figure: 'handOffP50', title: 'hand-off p50 ms' },
  { figure: 'handOffP99', title: 'p99' },
  { figure: 'changesPerSecond', title: 'owner changes/s' },
  { figure: 'longestWait', title: 'longest wait ms' },
  { figure: 'longestToMedian', title: '÷ median wait' },
  { figure: 'fairness', title: 'Jain' },
  { figure: 'gaveUp', title: 'gave up', total: true },
];
const ACROSS: Measure[] = [
  {
    figure: 'acrossP50',
    title: 'to another process p50 ms',
    better: 'less',
    versus: ['floor'],
  },
  { figure: 'idleShare', title: 'idle share', better: 'less' },
];
