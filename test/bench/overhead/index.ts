import { monotonic } from '../measure/monotonic.js';
import { median } from '../measure/statistics.js';
import { methods } from './methods.js';
import { routes } from './routes.js';
import type { Comparison, Subject } from './subject.js';

/** How long a subject is called in a round, in ms. */
const SPAN = 100;
/** And before the first round, until the compiler has seen all of it. */
const PRACTICE = 400;

/** What a call costs, and how many times its reference, as medians over the rounds. */
export interface Cost {
  readonly name: string;
  readonly microseconds: number;
  readonly ratio: number;
  /** Processor time, in µs; and how much more than what is part of it, within each round. */
  readonly cpu?: number;
  readonly more?: number;
}

export interface Overhead {
  readonly name: string;
  readonly costs: readonly Cost[];
}

/** What decorators cost a call, beside their locks. */
export const OVERHEADS = [
  { name: '@Locked on a provider method', open: methods },
  { name: '@LockedRequest on a route', open: routes },
];

export async function overhead(
  { name, open }: (typeof OVERHEADS)[number],
  rounds: number,
): Promise<Overhead> {
  const comparison = await open();
  const costs = await compare(comparison, rounds);
  await comparison.close();
  return { name, costs };
}

async function compare(
  { reference, subjects }: Comparison,
  rounds: number,
): Promise<Overhead['costs']> {
  const all = [reference, ...subjects];
  const series = new Map<string, Time[]>(all.map(({ name }) => [name, []]));
  for (const subject of all) await timed(subject, PRACTICE);
  for (let round = 0; round < rounds; round += 1) {
    for (const subject of round % 2 === 0 ? all : all.toReversed()) {
      series.get(subject.name)!.push(await timed(subject, SPAN));
    }
  }
  const base = series.get(reference.name)!;
  return all.map(({ name, over }) => {
    const times = series.get(name)!;
    return {
      name,
      microseconds: median(times.map(({ wall }) => wall)),
      ratio: median(times.map(({ wall }, round) => wall / base[round]!.wall)),
      cpu: median(times.map(({ cpu }) => cpu)),
      ...(over !== undefined && { more: more(times, series.get(over)!) }),
    };
  });
}

interface Time {
  readonly wall: number;
  readonly cpu: number;
}

/** How much more processor time one takes than another. */
function more(times: readonly Time[], part: readonly Time[]): number {
  return median(times.map(({ cpu }, round) => cpu - part[round]!.cpu));
}

/** What one call takes, in µs, one after the other. */
async function timed({ call }: Subject, span: number): Promise<Time> {
  const cpu = process.cpuUsage();
  const start = monotonic();
  let calls = 0;
  while (monotonic() - start < span) {
    for (let turn = 0; turn < 20; turn += 1) await call((calls += 1));
  }
  const { user, system } = process.cpuUsage(cpu);
  return { wall: ((monotonic() - start) / calls) * 1_000, cpu: (user + system) / calls };
}
