import { setTimeout as sleep } from 'node:timers/promises';
import { onAbort } from '../../../engine/options/index.js';
import { isCut, type LockInspection } from '../../../engine/inspection/inspection.js';
import { type Context, type ExitCode, timeOf } from '../context.js';
import type { Terminal } from '../terminal.js';
import { toldOf, type ToldError } from '../wording.js';
import { lines, matching } from './list.js';

const INTERVAL = 1_000;
const DAY = 86_400_000;
/** Of 25 days, more than a timer of Node can wait. */
const LONGEST = 2 ** 31 - 1;

/** What is seen at one moment. */
type Sight = { readonly at: Date } & (
  { readonly locks: readonly LockInspection[] } | { readonly error: ToldError }
);

/**
 * Shows the locks that match a pattern again and again, until a signal, or the time of `--for`. An outage is shown in their
 * place, unless nothing was seen before it.
 */
export async function watch(context: Context): Promise<ExitCode> {
  const { terminal, request } = context;
  const { interval: given, for: limit } = request.values;
  const interval =
    given === undefined ? INTERVAL : timeOf('interval', given, { min: 100, max: DAY });
  const end = new AbortController();
  const stop = (): void => end.abort();
  const stopping = AbortSignal.any([end.signal, terminal.closed]);
  const longest = limit === undefined ? undefined : timeOf('for', limit, { min: 0, max: LONGEST });
  let timer: NodeJS.Timeout | undefined;
  const view = viewer(context);
  const show = (sight: Sight): void => {
    view(sight);
    if (longest !== undefined) timer ??= setTimeout(stop, longest); // from the first look on
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    await looks(context, interval, stopping, show);
  } finally {
    clearTimeout(timer);
    terminal.endDrawing();
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
  return 0;
}

async function looks(
  context: Context,
  interval: number,
  stopping: AbortSignal,
  show: (sight: Sight) => void,
): Promise<void> {
  let seen = false;
  do {
    const sight = await before(stopping, look(context, seen));
    if (!sight) return;
    seen = true;
    show(sight);
    await before(stopping, context.terminal.caughtUp());
    await sleep(interval, undefined, { signal: stopping }).catch(() => {});
  } while (!stopping.aborted);
}

/**
 * What comes, or undefined if the signal aborts before. No race with one promise of that: it would keep whatever had come
 * for as long as somebody watches.
 */
function before<T>(signal: AbortSignal, coming: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const callOff = onAbort(signal, () => resolve(undefined));
    coming.then(resolve, reject).finally(callOff);
  });
}

async function look(context: Context, seen: boolean): Promise<Sight> {
  const at = new Date();
  try {
    return { at, locks: await matching(context) };
  } catch (error) {
    const told = toldOf(error);
    if (!seen || !told) throw error;
    return { at, error: told };
  }
}

/** How it is shown: for programs, on a screen, or line after line. */
function viewer(context: Context): (sight: Sight) => void {
  const { terminal, request } = context;
  if (request.values.json) {
    return (sight) =>
      terminal.printJson({ ...sight, cut: ('locks' in sight && isCut(sight.locks)) || undefined });
  }
  if (!terminal.isScreen) return changes(context, terminal);
  return (sight) => {
    const time = sight.at.toLocaleTimeString();
    const what = 'locks' in sight ? `${sight.locks.length} held` : 'Redis is away';
    terminal.draw([`${time}  ${what}, Ctrl+C ends`, '', ...seenIn(sight, context)]);
  };
}

/** Prints what is seen whenever it is something else: not that time went on. */
function changes(context: Context, terminal: Terminal): (sight: Sight) => void {
  let last: string | undefined;
  return (sight) => {
    const gist = 'locks' in sight ? JSON.stringify(sight.locks.map(gistOf)) : sight.error.message;
    if (gist === last) return;
    if (last !== undefined) terminal.print('');
    last = gist;
    terminal.print(sight.at.toISOString());
    for (const line of seenIn(sight, context)) terminal.print(line);
  };
}

/** What of a lock is not a time that goes on by itself. */
function gistOf({ key, state, mode, holder, holders, waiting, awaiting }: LockInspection): unknown {
  const names = holders?.map(({ host, pid }) => [host, pid]);
  return [key, state, mode, holder?.host, holder?.pid, holder?.since, names, waiting, awaiting];
}

function seenIn(sight: Sight, context: Context): string[] {
  return 'locks' in sight ? lines(sight.locks, context) : [sight.error.message];
}
