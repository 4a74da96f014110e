import { lockName } from '../../../engine/keys/index.js';
import {
  inspectLock,
  type LockInspection,
  type LockParty,
  plusOf,
} from '../../../engine/inspection/inspection.js';
import type { Context, ExitCode } from '../context.js';
import { heldAs, party } from '../lock-table.js';
import { span } from '../../../engine/options/index.js';
import { padded } from '../table.js';

/** The most holders and waiters that are shown. */
const SHOWN = 20;
const LABEL = 10;

/** Shows one lock. The exit code is 0 if it is held. */
export async function inspect(context: Context): Promise<ExitCode> {
  const { terminal, request } = context;
  const lock = await looked(context);
  if (request.values.json) terminal.printJson(lock);
  else for (const line of linesOf(lock)) terminal.print(line);
  return lock.state === 'free' || lock.state === 'foreign' ? 1 : 0;
}

/** The lock that a request names. */
export function looked({ client, request, settings }: Context): Promise<LockInspection> {
  const key = lockName(request.operand, settings.limits.keyBytes);
  return inspectLock(client, key, settings.call.format);
}

const STATES: Record<LockInspection['state'], string> = {
  free: 'free',
  held: 'held',
  kept: 'kept: nobody holds it, but its minimum hold (option "minHold") is not over',
  foreign: 'foreign: what stands there is no lock in this format; try --dialect or --prefix',
};

function linesOf(lock: LockInspection): string[] {
  const { key, state, holder, holders = [], remaining, fencingToken } = lock;
  const line = (label: string, text: string): string => `  ${padded(label, LABEL)}${text}`;
  return [
    key,
    line('state', lock.mode ? `${state}, ${heldAs(lock)}` : STATES[state]),
    ...(holder ? [line('holder', party(holder))] : []),
    ...(holder?.since
      ? [line('since', `${holder.since.toISOString()}, for ${span(holder.heldFor ?? 0)}`)]
      : []),
    ...(remaining === undefined ? [] : [line('left', span(remaining))]),
    ...(fencingToken === undefined ? [] : [line('token', String(fencingToken))]),
    ...named(
      holders,
      holders.length,
      (each) => `${party(each)}, ${span(each.remaining)} left`,
      plusOf(lock),
    ).map((text, nth) => line(nth === 0 ? 'holders' : '', text)),
    line('waiting', String(lock.waiting)),
    ...named(lock.waiters, lock.waiting, (each) => `${party(each)}, for ${span(each.age)}`).map(
      (text) => line('', text),
    ),
    ...(lock.awaiting > 0 ? [line('awaiting', `${lock.awaiting} for a condition`)] : []),
  ];
}

function named<Party extends LockParty>(
  parties: readonly Party[],
  all: number,
  text: (one: Party) => string,
  plus = '',
): string[] {
  const shown = parties.slice(0, SHOWN).map(text);
  return all > shown.length ? [...shown, `and ${all - shown.length}${plus} more`] : shown;
}
