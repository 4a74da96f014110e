import type { ServerHealth } from '../redis/index.js';
import type { DialectSettings, Moment } from '../options/index.js';
import type { NameSearch } from './lock-names.js';
import type { LockRequest } from './lock-request.js';

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

export interface Queued {
  readonly kind: 'queued';
  /** What is left of the present holder's lease, in ms; negative if there is none, it never ends, or others come first. */
  readonly remaining: number;
  readonly enqueuedAt: string;
  /** How many places are before this one; `AWAITS` while it awaits a condition. */
  readonly rank: number;
  /** The server had forgotten the entry, and maybe others: it was flushed, restarted or replaced. */
  readonly requeued: boolean;
  /** For a caller that awaited a condition and queues for the lock now: the condition was signalled, or may have been. */
  readonly signalled?: boolean | undefined;
}

/**
 * Why an ask came to nothing: another holds the lock, and the asker did not want to queue (`busy`); the queue is at its
 * cap (`full`); to await a condition, the former lease was not the asker's.
 */
export type Refusal = 'busy' | 'full' | Lost;

/** Of a lock that is not the asker's any more: nobody holds it, or another does. */
export type Lost = 'free' | 'taken';

/** What one step of a signal came to. */
export interface Signalled {
  readonly woken: number;
  /** The last of those to wake, where some of them are left for a further step. */
  readonly last?: string | undefined;
}

export type Answer = (
  | Grant
  | Queued
  | { readonly kind: Refusal }
  /** The command came too late to be trusted and changed nothing. */
  | { readonly kind: 'late' }
) & {
  /** Whether the former lease was still the asker's. */
  readonly gaveBack?: boolean;
};

/** What is left of a lease in ms, or where it went: `free`, nobody holds the lock; `taken`, another does; `unknown`, too few of several servers said. */
export type Extended = number | 'free' | 'taken' | 'unknown';

/** What became of several leases, in the order of their requests; it was read not before `sent`. */
export interface Extension {
  readonly sent: Moment;
  readonly remaining: readonly Extended[];
}

/** What became of a lease that another goes on with; it was read not before `sent`. */
export interface Transferred {
  readonly sent: Moment;
  readonly remaining: Extended;
  /** As of a grant. */
  readonly renewIn?: number | undefined;
}

/** What a process is told without asking. A hint: every promise holds if it is lost, late or forged. */
export interface PushListener {
  /** Whether an entry of this process waits under this holder id: a grant of any other is nobody's. */
  waits(holder: string): boolean;
  /** The lock was granted. Without a `grant` no trustworthy clock says what is left of the lease: ask. */
  granted(request: LockRequest, grant: Grant | undefined): void;
  /** An operator took the lock from this holder. */
  forced(holder: string): void;
  /** The lock was given back, but stays taken for the rest of a minimum hold, in ms; `lock` is its {@link lockId}. */
  kept(lock: string, rest: number): void;
  /** Pushes may have been missed, or the server may have changed: ask again. */
  reconnected(): void;
}

/** What can be seen of a lock from outside. */
export interface Snapshot {
  /** The Redis type at the key; `none` if it is free. */
  readonly type: string;
  /** Who holds it alone; '' if nobody does. */
  readonly holder: string;
  /** Those who hold it together, each with what is left of its lease in ms; of several permits each. */
  readonly holders: readonly { readonly holder: string; readonly remaining: number }[];
  /** Which holder that is, or which together: a text for `force`, and for nobody else. Undefined if it is free. */
  readonly sight?: string | undefined;
  /** In another service's format: whether a lock of it stands there. */
  readonly foreign?: boolean | undefined;
  /** What several hold it as. */
  readonly mode?: 'shared' | 'permits' | undefined;
  readonly remaining: number;
  /** The last token that was reserved, for whatever lock. */
  readonly fencingToken: number | undefined;
  /** The first of those that the holder's grant reserved. */
  readonly firstToken: number | undefined;
  /** Entries in the queue. */
  readonly waiting: number;
  /** How many await a condition. */
  readonly awaiting: number;
  /** The first of them, each with its age in ms. */
  readonly entries: readonly { readonly entry: string; readonly age: number }[];
  /** The server's clock, ms since the epoch. */
  readonly now: number;
}

/** What a start-up log says of a store. */
export interface StoreDescription {
  /** What it is, its version and address; no user, no password. */
  readonly found: string;
  /** What about it can cost locks. */
  readonly warnings: readonly string[];
}

export type { ServerHealth };

/** What a health check finds of a store. */
export interface StoreHealth {
  /** Whether a lock that is free would be granted. */
  readonly isUp: boolean;
  readonly servers: readonly ServerHealth[];
  /** Whether this process hears what is pushed; undefined where nothing is. */
  readonly inbox: boolean | undefined;
  /** What is wrong beside what the servers say. */
  readonly problems: readonly string[];
  /** What about it can cost locks, for as long as it is so. */
  readonly warnings: readonly string[];
}

/**
 * All that a process asks of the locks of one store. Each step on a lock is atomic, and has the effect of once when it
 * reaches the store twice. Never waits, retries, renews, logs or keeps state.
 * Rejects with a `LockStoreError` when the store fails, with a `ForeignLockError` when something else lives at the key.
 */
export interface LockStore {
  /** The name of this process in queues and inboxes. */
  readonly processId: string;
  /** Resolves when the store can be used; rejects with a `LockStoreError` in bounded time. */
  open(listener: PushListener): Promise<void>;
  /** True while commands can be sent. */
  readonly ready: boolean;
  acquire(request: LockRequest): Promise<Answer>;
  /**
   * False if the lock was not the holder's any more. `keep` ms it stays taken by nobody. The entries of `served` had
   * their turns within this lease, and leave the queue.
   */
  release(
    request: LockRequest,
    minHoldRest: number,
    served?: readonly LockRequest[],
  ): Promise<boolean>;
  /** Gives up a place, and the lock if it was granted meanwhile; `served` as in a release. True if it was. */
  leave(request: LockRequest, served?: readonly LockRequest[]): Promise<boolean>;
  /** The requests, by their indices, in batches: each is one command for one node, so that no other node holds it up. */
  batches(requests: readonly LockRequest[]): number[][];
  /** Lengthens what is still held of one batch; in the order of the requests. */
  extend(requests: readonly LockRequest[]): Promise<Extension>;
  /** `most`: how many of the holders and of the entries it names. */
  inspect(key: string, most: number, dialect?: DialectSettings): Promise<Snapshot>;
  /** Makes a lease that was exclusive a shared one, without a gap; others that share it have its `token`. False if it was not the holder's any more. */
  downgrade(request: LockRequest, token?: number): Promise<boolean>;
  /**
   * Puts `successor` in the place of who holds it alone, without a gap, for `successor.ttl` at least. What is left of the
   * lease; where it went if the lock was not the holder's any more.
   */
  transfer(request: LockRequest, successor: LockRequest): Promise<Transferred>;
  /** The version of what the lock guards, until the next exclusive grant with a token, or for a minute. Undefined while somebody holds it alone. */
  stamp(key: string): Promise<number | undefined>;
  /** Wakes the first who await the condition, `most` at most, a bounded number in one step; up to `last`, which an earlier step said. */
  signal(
    request: LockRequest,
    condition: string,
    most: number,
    last?: string,
  ): Promise<Signalled | Lost>;
  /** True if somebody held the lock. With the `sight` of a snapshot, `another` if others hold it: nothing happened then. */
  force(key: string, dialect?: DialectSettings, sight?: string): Promise<boolean | 'another'>;
  /** The names of locks that are not free. Not one step: one that comes or goes meanwhile is found or not. */
  names(search: NameSearch): Promise<string[]>;
  /** A grant was found by asking that a push should have told: the inbox may have gone deaf. */
  pushMissed(): void;
  describe(): StoreDescription;
  /** How it is, found within so many ms, connected or not. Never rejects. */
  health(within: number): Promise<StoreHealth>;
  close(): Promise<void>;
}
