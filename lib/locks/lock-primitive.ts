import type { DialectSettings, Moment, Share } from '../options/index.js';
import type { NameSearch } from './lock-names.js';

/** What one asks for, and later holds: the same words take, keep and give back a lock. */
export interface Claim {
  readonly key: string;
  /** Unguessable, and never sent again once released or left. */
  readonly holder: string;
  /** In ms. */
  readonly ttl: number;
  /** How many fencing tokens a grant reserves; 0: none. */
  readonly tokens: number;
  /** With whom it is shared; undefined: with nobody. */
  readonly share?: Share | undefined;
  /** What it waits for before it queues. */
  readonly condition?: AwaitedCondition | undefined;
  /** In whose format it is written; undefined: ours. */
  readonly dialect?: DialectSettings | undefined;
}

/** A condition of a lock, as one who awaits it asks. */
export interface AwaitedCondition {
  readonly name: string;
  /** He waits for it no longer, only for the lock. */
  readonly over: boolean;
}

export interface Ask extends Claim {
  /** Queue if the lock is not free; else the answer is `busy`. */
  readonly queue: boolean;
  /** The arrival an earlier answer gave this place, so that it keeps its turn if the server forgot it. */
  readonly arrival?: string | undefined;
  /** A lease of the asker's that is given back in the same step, before he asks; where nothing is shared. */
  readonly former?: Claim | undefined;
  /** False as soon as the caller has given up: nothing is sent any more. */
  readonly wanted: () => boolean;
}

/** A grant: `remaining` ms were left when it was read, which was not before `sent`. */
export interface Held {
  readonly kind: 'held';
  readonly sent: Moment;
  readonly remaining: number;
  readonly fencingToken: number | undefined;
  /** How many tokens are reserved, from `fencingToken` on. A repeated answer may name fewer. */
  readonly tokens: number;
  /** Of who awaited a condition: it was signalled, or may have been. */
  readonly signalled?: boolean;
  /** It may have been taken over from clients that still write over it: the first renewal is due after so many ms. */
  readonly renewIn?: number | undefined;
  /** The places of the same process, ttl and kind directly behind this one, if there are any: a token is reserved for each. */
  readonly run?: Run | undefined;
}

/** When a lock beside clients of the SETNX articles is written once more, in ms: by then who lost a take-over has written. */
export const AFTER_TAKE_OVER = 100;

/** Places that stand one behind another. */
export interface Run {
  readonly places: number;
  /** The arrival of the last of them. */
  readonly last: string;
}

/** The rank of who awaits a condition and does not queue, as in condition/ask.lua. */
export const AWAITS = -1;

export interface Queued {
  readonly kind: 'queued';
  /** What is left of the present holder's lease, in ms; negative if there is none, it never ends, or others come first. */
  readonly remaining: number;
  readonly arrival: string;
  /** How many places are before this one; `AWAITS` while it awaits a condition. */
  readonly rank: number;
  /** The server had forgotten the place, and maybe others: it was flushed, restarted or replaced. */
  readonly rejoined: boolean;
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
  | Held
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

/** What became of several leases, in the order of their claims; it was read not before `sent`. */
export interface Extension {
  readonly sent: Moment;
  readonly remaining: Extended[];
}

/** What became of a lease that another goes on with; it was read not before `sent`. */
export interface Transferred {
  readonly sent: Moment;
  readonly remaining: Extended;
  /** As of a grant. */
  readonly renewIn?: number | undefined;
}

/** A grant that was pushed; `sent` is undefined if no trustworthy clock says when. */
export type Pushed = Omit<Held, 'kind' | 'sent'> & { readonly sent: Moment | undefined };

/** What a process is told without asking. A hint: every promise holds if it is lost, late or forged. */
export interface PushListener {
  granted(claim: Claim, grant: Pushed): void;
  /** An operator took the lock from this holder. */
  forced(holder: string): void;
  /** The lock was given back, but stays taken for the rest of a minimum hold, in ms; `lock` is its {@link lockId}. */
  kept(lock: string, rest: number): void;
  /** Pushes may have been missed, or the server may have changed: ask again. */
  reconnected(): void;
}

/** What can be seen of a lock from outside. */
export interface Sight {
  /** The Redis type at the key; `none` if it is free. */
  readonly type: string;
  /** Who holds it alone; '' if nobody does. */
  readonly holder: string;
  /** Those who hold it together, each with what is left of his lease in ms; of several permits each. */
  readonly holders: readonly { readonly holder: string; readonly remaining: number }[];
  /** In another service's format: whether a lock of it stands there. */
  readonly foreign?: boolean;
  /** What several hold it as. */
  readonly mode?: 'shared' | 'permits' | undefined;
  readonly remaining: number;
  /** The last token that was reserved. */
  readonly fencingToken: number | undefined;
  /** The first of those that were reserved with it, for one grant. */
  readonly firstToken: number | undefined;
  /** Places in the queue. */
  readonly waiting: number;
  /** How many await a condition. */
  readonly awaiting: number;
  /** The first of them, each with its age in ms. */
  readonly places: readonly { readonly place: string; readonly age: number }[];
  /** The server's clock, ms since the epoch. */
  readonly now: number;
}

/** The steps of who holds a lock, or wants to. */
export type HolderSteps = Pick<
  LockPrimitive,
  'acquire' | 'release' | 'leave' | 'batches' | 'extend'
>;

/**
 * One kind of lock in one store: a handful of steps, each atomic, each with the effect of once when
 * it reaches the store twice. Never waits, retries, renews, logs or keeps state.
 * Rejects with a `LockStoreError` when the store fails, with a `ForeignLockError` when something else lives at the key.
 */
export interface LockPrimitive {
  acquire(ask: Ask): Promise<Answer>;
  /**
   * False if the lock was not the holder's any more. `keep` ms it stays taken by nobody. The places of `passed` had
   * their turns within this lease, and leave the queue.
   */
  release(claim: Claim, keep: number, passed?: readonly Claim[]): Promise<boolean>;
  /** Gives up a place, and the lock if it was granted meanwhile; `passed` as in a release. True if it was. */
  leave(claim: Claim, passed?: readonly Claim[]): Promise<boolean>;
  /** The claims, by their indices, in batches: each is one command for one node, so that no other node holds it up. */
  batches(claims: readonly Claim[]): number[][];
  /** Lengthens what is still held of one batch; in the order of the claims. */
  extend(claims: readonly Claim[]): Promise<Extension>;
  inspect(key: string, places: number, dialect?: DialectSettings): Promise<Sight>;
  /** Makes a lease that was exclusive a shared one, without a gap. False if it was not the holder's any more. */
  downgrade(claim: Claim): Promise<boolean>;
  /**
   * Puts `heir` in the place of who holds it alone, without a gap, for `heir.ttl` at least. What is left of the
   * lease; where it went if the lock was not the holder's any more.
   */
  transfer(claim: Claim, heir: Claim): Promise<Transferred>;
  /** The version of what the lock guards: every exclusive grant with a token moves it on. Undefined while somebody holds it alone. */
  stamp(key: string): Promise<number | undefined>;
  /** Wakes the first who await the condition, `most` at most, a bounded number in one step; up to `last`, which an earlier step said. */
  signal(claim: Claim, condition: string, most: number, last?: string): Promise<Signalled | Lost>;
  /** True if somebody held the lock. */
  force(key: string, dialect?: DialectSettings): Promise<boolean>;
}

/** What a start-up log says of a store. */
export interface StoreDescription {
  /** What it is, its version and address; no user, no password. */
  readonly found: string;
  /** What about it can cost locks. */
  readonly warnings: readonly string[];
}

/** A primitive and the connection under it, as the process uses them. */
export interface LockStore {
  readonly lock: LockPrimitive;
  /** The name of this process in queues and inboxes. */
  readonly processId: string;
  /** Resolves when the store can be used; rejects with a `LockStoreError` in bounded time. */
  open(listener: PushListener): Promise<void>;
  /** True while commands can be sent. */
  readonly ready: boolean;
  /** The names of locks that are not free. Not one step: one that comes or goes meanwhile is found or not. */
  names(search: NameSearch): Promise<string[]>;
  /** A grant was found by asking that a push should have told: the inbox may have gone deaf. */
  pushMissed(): void;
  describe(): StoreDescription;
  close(): Promise<void>;
}
