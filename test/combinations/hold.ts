import type { BaseLease } from '../../lib/engine/client/leases/lease.js';
import type { DrawnCall } from './drawn-call.js';

/** A call that waits. */
export interface Asked {
  readonly call: DrawnCall;
  readonly process: number;
  readonly at: number;
  readonly nth: number;
}

/** A lease that its caller believes to have. */
export interface Hold extends Asked {
  lease: BaseLease;
  shared: boolean;
  /** Its bounds count from then on, or later. */
  since: number;
  /** Before this moment it is not lost. */
  sureUntil: number;
  /** After this moment it is not held. */
  endsBy: number;
  /** No extension goes further. */
  lastsAtMost: number;
  /** How far an extension goes that was asked for. */
  extendedTo: number;
  /** For the sake of `minHold`, its lock stays taken so long when it was given back. */
  lingersUntil: number;
  state: 'held' | 'on its way' | 'awaiting' | 'over';
  /** When its caller gave it back, or away. */
  overAt: number;
}

/** How a call ended. */
export type Outcome = 'acquired' | 'timedOut' | 'aborted' | 'refused' | 'failed';

/** What the caller of a call has seen of it. */
export interface Seen {
  readonly keys: readonly string[];
  readonly outcome: Outcome;
  /** How the lease ended; undefined if its caller gave it away, or gave up to get it back. */
  end: 'released' | 'lost' | undefined;
}

/** A promise is broken. */
export class Broken extends Error {}

export function check(kept: boolean, otherwise: string | (() => string)): asserts kept {
  if (!kept) throw new Broken(typeof otherwise === 'string' ? otherwise : otherwise());
}

export function checkThrows(step: () => unknown, otherwise: string): void {
  try {
    step();
  } catch {
    return;
  }
  throw new Broken(otherwise);
}

export function overlap(one: DrawnCall, other: DrawnCall): boolean {
  return one.keys.some((key) => other.keys.includes(key));
}

export function excludes(one: Hold, other: Hold): boolean {
  if (one === other || !overlap(one.call, other.call)) return false;
  return !(one.shared && other.shared) && !one.call.keys.includes('permits');
}

export function said({ call: { deeds: _, ...call }, process, state }: Hold): string {
  return `${state} by process ${process}: ${JSON.stringify(call)}`;
}
