import { setTimeout as sleep } from 'node:timers/promises';
import { onAbort } from '../../../engine/options/index.js';
import { isCut, type LockInspection } from '../../../engine/inspection/inspection.js';
import { type Context, type ExitCode, timeOf } from '../context.js';
import type { Terminal } from '../terminal.js';
import { toldOf, type ToldError } from '../wording.js';
import { lines, matching } from './list.js';

const INTERVAL = 1_000;
const DAY = 86_400_000;
/** The longest watch in ms, just below 25 days: the limit of Node's timers. */
const LONGEST = 2 ** 31 - 1;

/** The locks, or the error, of one look. */
type Sight = { readonly at: Date } & (
  { readonly locks: readonly LockInspection[] } | { readonly error: ToldError }
);

/**
 * Shows the locks that match a pattern again and again, until a signal or the end of `--for`. An outage is shown instead, but
 * ends a watch that has seen nothing yet.
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
    if (longest !== undefined) timer ??= setTimeout(stop, longest); // the time counts from the first look
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
 * Resolves to the value, or to undefined if the signal aborts first. `Promise.race` with one promise of the signal would keep
 * every value in memory for the whole watch.
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

/** Returns the way to show a look: as JSON, redrawn on a screen, or appended line by line. */
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

/** Prints a look if it differs from the last one by more than the passage of time. */
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

/** The parts of a lock that do not change with time alone. */
function gistOf({ key, state, mode, holder, holders, waiting, awaiting }: LockInspection): unknown {
  const names = (holders ?? (holder ? [holder] : [])).map(({ host, pid, label }) => [
    host,
    pid,
    label,
  ]);
  return [key, state, mode, holder?.since, names, waiting, awaiting];
}

function seenIn(sight: Sight, context: Context): string[] {
  return 'locks' in sight ? lines(sight.locks, context) : [sight.error.message];
}
