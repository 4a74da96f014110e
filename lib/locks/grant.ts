import type { Moment } from '../options/index.js';

/** A lock was granted, by an answer or a push: `remaining` ms were left when the server said so, which was not before `sent`. */
export interface Grant {
  readonly kind: 'held';
  readonly sent: Moment;
  readonly remaining: number;
  readonly fencingToken: number | undefined;
  /** How many tokens are reserved, from `fencingToken` on. A repeated answer may name fewer. */
  readonly tokens: number;
  /** For a caller that awaited a condition: the condition was signalled, or may have been. */
  readonly signalled?: boolean;
  /** The first renewal is due after so many ms: clients that lost a take-over may still write over the lock. */
  readonly renewIn?: number | undefined;
  /** The entries of the same process, ttl and kind directly behind this one, if there are any: a token is reserved for each. */
  readonly batch?: Batch | undefined;
}

/** Entries that stand one behind another in the queue. */
export interface Batch {
  readonly entries: number;
  /** When the last of them was enqueued. */
  readonly last: string;
}
