import { type LockInspection, type LockParty, plusOf } from '../../engine/inspection/inspection.js';
import { span } from '../../engine/options/index.js';
import { tableOf } from './table.js';

const HEADING = ['KEY', 'HELD AS', 'BY', 'FOR', 'LEFT', 'WAITING'];

/** The lines of a table of locks. */
export function lockTable(locks: readonly LockInspection[], columns?: number): string[] {
  return tableOf(HEADING, locks.map(rowOf), columns);
}

function rowOf(lock: LockInspection): string[] {
  const { key, holder, remaining } = lock;
  return [
    key,
    heldAs(lock),
    holdersOf(lock),
    holder?.heldFor === undefined ? '' : span(holder.heldFor),
    remaining === undefined ? '' : span(remaining),
    waitingFor(lock),
  ];
}

/** The state of a lock in a word or two. */
export function heldAs(lock: LockInspection): string {
  const { state, mode, holders, handedOver } = lock;
  if (state !== 'held' || mode === undefined) return state;
  if (handedOver) return 'handed over';
  return holders ? `${mode} ×${holders.length}${plusOf(lock)}` : mode;
}

/** A process by its host and pid, with the label of its call. */
export function party({ host, pid, label }: LockParty): string {
  return label === undefined ? `${host} pid ${pid}` : `${host} pid ${pid}, ${label}`;
}

function holdersOf(lock: LockInspection): string {
  const { holder, holders = [] } = lock;
  if (holder) return party(holder);
  const names = [...new Set(holders.map(party))];
  const [first = '', ...others] = names;
  return others.length > 0 ? `${first} and ${others.length}${plusOf(lock)} more` : first;
}

function waitingFor({ waiting, waiters, awaiting }: LockInspection): string {
  const [first] = waiters;
  const longest = first ? `, the first for ${span(first.age)}` : '';
  const queue = waiting > 0 ? `${waiting}${longest}` : '';
  return [queue, awaiting > 0 ? `${awaiting} for a condition` : ''].filter(Boolean).join('; ');
}
