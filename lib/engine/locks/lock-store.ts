import type { ServerHealth } from '../redis/index.js';
import type { LockFormat, Moment } from '../options/index.js';
import type { NameSearch } from './lock-names.js';
import type { LockRequest } from './lock-request.js';

/** A grant, by an answer or a push: `remaining` ms were left when the server said so, which was not before `sent`. */
export interface Grant {
  readonly kind: 'held';
  readonly sent: Moment;
  readonly remaining: number;
  readonly fencingToken: number | undefined;
  /** The number of reserved tokens, from `fencingToken` on. A repeated answer may name fewer. */
  readonly tokens: number;
  /** For a caller that awaited a condition: the caller was signalled, or may have been. */
  readonly signalled?: boolean;
  /** The first renewal is due after this many ms: clients that lost a take-over may still overwrite the lock. */
  readonly renewIn?: number | undefined;
  /** The entries of the same process, ttl and kind directly behind this one, if any: a token is reserved for each. */
  readonly batch?: Batch | undefined;
}

/** Consecutive entries of the queue. */
export interface Batch {
  readonly entries: number;
  /** The arrival of the last entry. */
  readonly last: string;
}

export interface Queued {
  readonly kind: 'queued';
  /** The ms left of the present holder's lease. Negative if there is none, if it never ends, or if other waiters come first. */
  readonly remaining: number;
  readonly enqueuedAt: string;
  /** The number of entries before this one; `AWAITS` while the caller awaits a condition. */
  readonly rank: number;
  /** True if the server had forgotten the entry, and maybe others: it was flushed, restarted or replaced. */
  readonly requeued: boolean;
  /** For a caller that awaited a condition and now queues for the lock: the caller was signalled, or may have been. */
  readonly signalled?: boolean | undefined;
}

/**
 * Why an ask failed: the lock is held and the asker did not want to queue (`busy`); the queue is at its cap (`full`); or, to
 * await a condition, the former lease was not the asker's.
 */
export type Refusal = 'busy' | 'full' | Lost;

/** Why a lease is lost: nobody holds the lock, or another caller does. */
export type Lost = 'free' | 'taken';

/** The result of one step of a signal. */
export interface Signalled {
  readonly woken: number;
  /** The last entry to signal, if a further step is needed. */
  readonly last?: string | undefined;
}

export type Answer = (
  | Grant
  | Queued
  | { readonly kind: Refusal }
  /** The command arrived too late to be trusted, and changed nothing. */
  | { readonly kind: 'late' }
) & {
  /** True if the former lease was still the asker's. */
  readonly gaveBack?: boolean;
};

/** The ms left of a lease. Otherwise `free`, nobody holds the lock; `taken`, another caller does; `unknown`, too few servers of a quorum answered. */
export type Extended = number | 'free' | 'taken' | 'unknown';

/** The state of several leases, in the order of their requests. The servers read it not before `sent`. */
export interface Extension {
  readonly sent: Moment;
  readonly remaining: readonly Extended[];
}

/** The state of a lease that was handed to a successor. The server read it not before `sent`. */
export interface Transferred {
  readonly sent: Moment;
  readonly remaining: Extended;
  /** As in {@link Grant}. */
  readonly renewIn?: number | undefined;
}

/** Receives pushed messages. Each is a hint: every promise holds if a message is lost, late or forged. */
export interface PushListener {
  /** True if an entry of this process waits under this holder id. */
  waits(holder: string): boolean;
  /** A grant came to a holder id under which no entry of this process waits. */
  grantedToNobody(request: LockRequest): void;
  /** The lock was granted. Without a `grant`, no trustworthy clock says how much of the lease is left, and the process asks. */
  granted(request: LockRequest, grant: Grant | undefined): void;
  /** An operator took the lock from this holder. */
  forced(holder: string): void;
  /** The lock was released, but stays taken for the rest of a minimum hold, in ms. `lock` is its {@link lockId}. */
  kept(lock: string, rest: number): void;
  /** Pushes may have been missed, or the server may have changed: ask again. */
  reconnected(): void;
}

/** The state of a lock, as an inspection shows it. */
export interface Snapshot {
  /** The Redis type at the key; `none` if it is free. */
  readonly type: string;
  /** The exclusive holder; '' if there is none. */
  readonly holder: string;
  /** The holders that share the lock, each with the ms left of its lease; a holder of several permits appears once for each. */
  readonly holders: readonly { readonly holder: string; readonly remaining: number }[];
  /** A digest of the present holders, for `force`. Undefined if the lock is free. */
  readonly sight?: string | undefined;
  /** In another service's format: true if the key has a lock of that format. */
  readonly foreign?: boolean | undefined;
  /** How several callers hold the lock. */
  readonly mode?: 'shared' | 'permits' | undefined;
  readonly remaining: number;
  /** The last token that was reserved, for any lock. */
  readonly fencingToken: number | undefined;
  /** The first token that the holder's grant reserved. */
  readonly firstToken: number | undefined;
  /** The number of entries in the queue. */
  readonly waiting: number;
  /** The number of entries that await a condition. */
  readonly awaiting: number;
  /** The first entries of the queue, each with its age in ms. */
  readonly entries: readonly { readonly entry: string; readonly age: number }[];
  /** The server's clock, ms since the epoch. */
  readonly now: number;
}

/** The store's description in the start-up log. */
export interface StoreDescription {
  /** The kind, version and address of the server; no user, no password. */
  readonly found: string;
  /** Settings of the server that can cost locks. */
  readonly warnings: readonly string[];
}

export type { ServerHealth };

/** The result of a store's health check. */
export interface StoreHealth {
  /** True if a free lock would be granted. */
  readonly isUp: boolean;
  readonly servers: readonly ServerHealth[];
  /** True if this process receives pushes; undefined if the store pushes none. */
  readonly inbox: boolean | undefined;
  /** Problems beside those that the servers report. */
  readonly problems: readonly string[];
  /** Settings that can cost locks, for as long as they are in force. */
  readonly warnings: readonly string[];
}

/**
 * All steps of a process on the locks of one store. Each step on a lock is atomic, and idempotent: it may reach the store
 * twice. A store never waits, retries, renews, logs or keeps state.
 * @throws LockStoreError when the store fails; ForeignLockError when something else lives at the key.
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
   * Releases the lock. Resolves to false if it was not the holder's any more. For `minHoldRest` ms the lock stays taken by
   * nobody. The entries of `served` had their turns within this lease, and leave the queue.
   */
  release(
    request: LockRequest,
    minHoldRest: number,
    served?: readonly LockRequest[],
  ): Promise<boolean>;
  /** Removes the request's entry, and releases the lock if it was granted meanwhile: then resolves to true. `served` as in a release. */
  leave(request: LockRequest, served?: readonly LockRequest[]): Promise<boolean>;
  /** Groups requests, by their indices, into batches. Each is one command for one node, so that no other node delays it. */
  batches(requests: readonly LockRequest[]): number[][];
  /** Lengthens the leases of one batch that are still held; results are in the order of the requests. */
  extend(requests: readonly LockRequest[]): Promise<Extension>;
  /** Inspects a lock; `most` bounds the holders and entries in the snapshot. */
  inspect(key: string, most: number, format?: LockFormat): Promise<Snapshot>;
  /** Turns an exclusive lease into a shared one, without a gap; other readers get its `token`. False if the lock was not the holder's any more. */
  downgrade(request: LockRequest, token?: number): Promise<boolean>;
  /** Replaces the exclusive holder by `successor`, without a gap, for `successor.ttl` at least. */
  transfer(request: LockRequest, successor: LockRequest): Promise<Transferred>;
  /**
   * Reads the version of the guarded data: it lasts until the next exclusive grant with a token, or for a minute. Undefined
   * during an exclusive lease.
   */
  stamp(key: string): Promise<number | undefined>;
  /** Signals the first `most` entries that await the condition, a bounded number in one step, up to the entry `last` of an earlier step. */
  signal(
    request: LockRequest,
    condition: string,
    most: number,
    last?: string,
  ): Promise<Signalled | Lost>;
  /** Takes the lock from its holders; true if it was held. `another`, without a change, if the holders are not those of `sight`. */
  force(key: string, format?: LockFormat, sight?: string): Promise<boolean | 'another'>;
  /** Lists the names of locks that are not free. The listing is not atomic: a lock that changes meanwhile may be missing. */
  names(search: NameSearch): Promise<string[]>;
  /** Reports that an ask found a grant whose push was missed: the inbox may be broken. */
  pushMissed(): void;
  describe(): StoreDescription;
  /** Checks the store's health in at most `within` ms, connected or not. Never rejects. */
  health(within: number): Promise<StoreHealth>;
  close(): Promise<void>;
}
