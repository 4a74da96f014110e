import {
  grantOf,
  type LockInspection,
  type LockParty,
  plusOf,
} from '../../engine/inspection/inspection.js';

/** A lock in the data of the page. Spans are in ms. */
export interface BoardRow {
  readonly key: string;
  /** How the lock is held, or another state of its key. */
  readonly mode: string;
  readonly held: boolean;
  /** The processes that hold the lock, each with the label of its calls and its number of holders. */
  readonly holders: readonly (LockParty & { readonly count: number })[];
  /** The number of further processes. */
  readonly others: number;
  /** There if both numbers of holders may be greater. */
  readonly plus?: '+' | undefined;
  readonly heldFor?: number | undefined;
  /** The ms left of the lease; Infinity, null in JSON, if it never ends. */
  readonly remaining?: number | undefined;
  readonly waiting: number;
  readonly awaiting: number;
  /** The age of the first queue entry. */
  readonly oldest?: number | undefined;
  /** Identifies the present grant. */
  readonly grant?: string | undefined;
}

/** The most processes that a row names. */
const NAMED = 5;
const STATES = { free: 'free', kept: 'minimum hold', foreign: 'not a lock' } as const;

function heldAs({ mode = 'exclusive', handedOver }: LockInspection): string {
  return handedOver ? 'handed over' : mode;
}

export function boardRow(seen: LockInspection): BoardRow {
  const { key, state, holder, holders = holder ? [holder] : [], waiters } = seen;
  const processes = new Map<string, LockParty & { count: number }>();
  for (const { host, pid, label } of holders) {
    const name = `${host} ${pid} ${label ?? ''}`;
    const process = processes.get(name) ?? { host, pid, ...(label && { label }), count: 0 };
    process.count += 1;
    processes.set(name, process);
  }
  return {
    key,
    mode: state === 'held' ? heldAs(seen) : STATES[state],
    held: state === 'held',
    holders: [...processes.values()].slice(0, NAMED),
    others: Math.max(0, processes.size - NAMED),
    plus: plusOf(seen) || undefined,
    heldFor: holder?.heldFor,
    remaining: seen.remaining,
    waiting: seen.waiting,
    awaiting: seen.awaiting,
    oldest: waiters.length > 0 ? Math.max(...waiters.map(({ age }) => age)) : undefined,
    grant: grantOf(seen),
  };
}
