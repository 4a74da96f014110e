// Whose code runs while some cycles go on, by the sampling profiler of V8.
import { type Profiler, Session } from 'node:inspector';
import { median } from './median.js';

/** By whose code it is, what one cycle takes in µs; `processor time` is all of it, of all threads. */
export type Spent = Record<string, number>;

export type Table = Record<string, Record<string, number>>;

const session = new Session();

function post<Result>(method: string, params = {}): Promise<Result> {
  return new Promise((resolve, reject) => {
    session.post(method, params, (error, result) =>
      error ? reject(error) : resolve(result as Result),
    );
  });
}

/** Before the first profile. */
export async function openProfiler(): Promise<void> {
  session.connect();
  await post('Profiler.enable');
  await post('Profiler.setSamplingInterval', { interval: 100 });
}

export function closeProfiler(): void {
  session.disconnect();
}

/** Whose code a frame is. */
function owner({ functionName, url }: Profiler.ProfileNode['callFrame']): string {
  if (functionName === '(idle)') return '';
  if (functionName === '(garbage collector)') return 'collecting garbage';
  if (functionName === '(program)' || url === '') return 'system calls and V8';
  if (url.includes('/lib/')) return 'lib';
  if (url.includes('redis-parser') || url.includes('ioredis')) return 'ioredis';
  if (url.startsWith('node:internal/process') || url.includes('async_hooks'))
    return 'promises and ticks of Node.js';
  if (url.startsWith('node:')) return 'sockets and streams of Node.js';
  return 'others';
}

/** What each of the cycles took of which `work` tells the number. */
export async function profiled(work: () => Promise<number>): Promise<Spent> {
  await post('Profiler.start');
  const began = process.cpuUsage();
  const cycles = await work();
  const { user, system } = process.cpuUsage(began);
  const { profile } = await post<Profiler.StopReturnType>('Profiler.stop');
  const owners = new Map(profile.nodes.map(({ id, callFrame }) => [id, owner(callFrame)]));
  const spent: Spent = { 'processor time': (user + system) / cycles };
  for (const [nth, id] of profile.samples!.entries()) {
    const whose = owners.get(id)!;
    if (whose) spent[whose] = (spent[whose] ?? 0) + profile.timeDeltas![nth]! / cycles;
  }
  return spent;
}

/** A row for each owner, a column for each name; medians of the rounds. */
export function inTable(rounds: Readonly<Record<string, readonly Spent[]>>): Table {
  const table: Table = {};
  for (const [name, spent] of Object.entries(rounds)) {
    for (const whose of new Set(spent.flatMap((each) => Object.keys(each)))) {
      (table[whose] ??= {})[name] = rounded(median(spent.map((each) => each[whose] ?? 0)));
    }
  }
  return table;
}

export function rounded(number: number): number {
  return Math.round(number * 10) / 10;
}
