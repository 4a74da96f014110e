import { createHash } from 'node:crypto';
import type { LockClient } from '../client/lock-client.js';
import { LockKeyError, LockOptionsError, type LockParty } from '../errors/index.js';
import { describe, lockName } from '../keys/index.js';
import { isFenced, isHandedOver, partyOf } from '../locks/holder.js';
import type { NameSearch } from '../locks/lock-names.js';
import type { Snapshot } from '../locks/lock-store.js';
import {
  checkStore,
  type LockFormat,
  lockFormat,
  type LockDialect,
  type ModuleSettings,
  refuseOthers,
  wholeNumber,
} from '../options/index.js';
import { KEPT, TOKEN_LEAD } from '../protocol/constants.js';

export type { LockParty };

/** The options of `inspect` and `forceRelease` of `LockService`. */
export interface InspectOptions {
  /** The format of the lock, as `acquire` was given it. Default: the module's. */
  readonly dialect?: LockDialect | undefined;
}

/**
 * The format in which a lock is looked for.
 * @throws LockOptionsError if there is no such dialect or option, or the module's store keeps no locks in dialects.
 */
export function formatOf(
  options: InspectOptions & { readonly limit?: number | undefined },
  settings: ModuleSettings,
): LockFormat {
  const { dialect: given, limit: _limit, ...others } = options;
  refuseOthers(others);
  const format = given === undefined ? settings.call.format : lockFormat(given);
  checkStore(format, settings);
  return format;
}

/** A lock as it is seen from outside; never with a holder id. */
export interface LockInspection {
  /** The key of the lock, without the prefix. */
  readonly key: string;
  /**
   * `free`: nobody holds it. `held`: one caller holds it, or several together. `kept`: nobody holds it, but its minimum hold
   * is not over. `foreign`: another library's lock, or no lock at all.
   */
  readonly state: 'free' | 'held' | 'kept' | 'foreign';
  /** How the lock is held: alone, by readers, or by permits. Undefined unless it is `held`. */
  readonly mode?: 'exclusive' | 'shared' | 'permits';
  /**
   * The holder, if it is a process of this library. `since`: when it got the lock, by Redis' clock; `heldFor`: how long it
   * has it, in ms. A process keeps its `since` while it passes the lock on among its own callers. Without fencing tokens
   * Redis does not know it.
   */
  readonly holder?: LockParty & { readonly since?: Date; readonly heldFor?: number };
  /** True if `holder` gave the lease away by `handOver()`, and no process has restored it yet. */
  readonly handedOver?: true;
  /** The holders in shared mode or by permits, once for each permit, with the ms left of each lease; at most 100. */
  readonly holders?: readonly (LockParty & { readonly remaining: number })[];
  /** The time left of the lease, in ms; undefined if the lock is free, Infinity if the lease never ends. */
  readonly remaining?: number;
  /**
   * The fencing token of the holder: the first of those that its grant reserved. Its process uses the next ones while it
   * passes the lock on among its own callers. Undefined if nobody holds the lock alone, or without tokens.
   */
  readonly fencingToken?: number;
  /** The last token that was reserved, for any lock: every later grant has a greater one. */
  readonly lastFencingToken?: number;
  /** How many queue entries wait. In strict order, up to 64 of each process may just have had their turns. */
  readonly waiting: number;
  /** The first of the waiting entries, each with the ms it has waited. */
  readonly waiters: readonly (LockParty & { readonly age: number })[];
  /** How many holders await a condition of the lock. */
  readonly awaiting: number;
}

/** How many waiters, and how many holders, are named. */
export const NAMED = 100;

/** What stands behind a number of a lock's holders: a plus if there may be more than the inspection names. */
export function plusOf({ holders = [] }: LockInspection): '+' | '' {
  return holders.length < NAMED ? '' : '+';
}

export async function inspectLock(
  client: LockClient,
  key: string,
  format?: LockFormat,
): Promise<LockInspection> {
  return inspection(key, await client.inspect(key, NAMED, format));
}

export function inspection(key: string, snapshot: Snapshot): LockInspection {
  const party =
    snapshot.type === 'string' || snapshot.foreign ? partyOf(snapshot.holder) : undefined;
  const { fencingToken: lastFencingToken, remaining, mode } = snapshot;
  const fencingToken = party && isFenced(snapshot.holder) ? snapshot.firstToken : undefined;
  const since = sinceOf(fencingToken, snapshot.now);
  const lock: LockInspection = {
    key,
    state: snapshot.foreign ? 'held' : stateOf(snapshot, party),
    ...(mode && {
      mode,
      holders: snapshot.holders.map(({ holder, remaining: left }) => ({
        ...(partyOf(holder) ?? UNKNOWN),
        remaining: Math.round(left),
      })),
    }),
    ...(isHandedOver(snapshot.holder) && { handedOver: true }),
    ...(party && {
      mode: 'exclusive',
      holder: {
        ...party,
        ...(since && { since, heldFor: Math.round(snapshot.now - since.getTime()) }),
      },
    }),
    ...(remaining !== -2 && { remaining: remaining === -1 ? Infinity : Math.round(remaining) }),
    ...(fencingToken !== undefined && { fencingToken }),
    ...(lastFencingToken !== undefined && { lastFencingToken }),
    waiting: snapshot.waiting,
    awaiting: snapshot.awaiting,
    waiters: snapshot.entries.map(({ entry, age }) => ({
      ...(partyOf(entry) ?? UNKNOWN),
      age: Math.round(age),
    })),
  };
  if (snapshot.sight !== undefined) sights.set(lock, snapshot.sight);
  return lock;
}

/** The holders that each inspection shows, as texts for {@link sightOf}. */
const sights = new WeakMap<LockInspection, string>();

/** A text for `LockClient.force`, which stays the same while the same callers hold the lock; undefined if it is free. */
export function sightOf(lock: LockInspection): string | undefined {
  return sights.get(lock);
}

/** As {@link sightOf}, hashed for browsers: it tells no holder id. */
export function grantOf(lock: LockInspection): string | undefined {
  const sight = sightOf(lock);
  return sight && createHash('sha256').update(sight).digest('base64url').slice(0, 16);
}

/** The earliest moment that a token can stand for, in ms since the epoch: a smaller token counts something else. */
const EARLIEST = 1_000_000_000_000;

/**
 * When a token was minted: a token is the µs of that moment, or a little more. Undefined if it is no time, or later than
 * `now` (in ms), as after Redis' clock was set back.
 */
function sinceOf(token: number | undefined, now: number): Date | undefined {
  const at = (token ?? 0) / 1_000;
  return at < EARLIEST || at > now + TOKEN_LEAD / 1_000 ? undefined : new Date(Math.min(at, now));
}

const UNKNOWN: LockParty = { host: 'unknown', pid: 0 };

function stateOf(
  { type, holder, mode }: Snapshot,
  party: LockParty | undefined,
): LockInspection['state'] {
  if (type === 'none') return 'free';
  if (party || mode) return 'held';
  return holder === KEPT ? 'kept' : 'foreign';
}

/** The most locks one list may have. */
const MOST = 10_000;

/** The options of `LockService.list`. */
export interface ListOptions extends InspectOptions {
  /** The most locks that the list may have. From 1 to 10,000. @default 1000 */
  readonly limit?: number | undefined;
}

/** Lists whose search ended at their limit. */
const cut = new WeakSet<readonly LockInspection[]>();

/** Whether there may be more locks than a list of {@link listLocks} has; such a list may be shorter than its limit. */
export function isCut(locks: readonly LockInspection[]): boolean {
  return cut.has(locks);
}

/** @throws LockOptionsError for a pattern by which every string of Redis would be taken for a lock. */
export function refuseAllStrings(
  pattern: string,
  { family, name, prefix, suffix }: LockFormat,
): void {
  const anyKey = prefix + suffix === '' && /^\*+$/.test(pattern);
  if (!anyKey || !['plain', 'timestamp'].includes(family)) return;
  throw new LockOptionsError(
    `Without a prefix, dialect "${name}" takes every string of Redis for a lock: give it a "prefix", or a pattern of keys that is more than "*".`,
  );
}

/** The locks that are not free and match, in the order of their keys. */
export async function listLocks(
  client: LockClient,
  pattern: string,
  options: ListOptions,
  settings: ModuleSettings,
): Promise<LockInspection[]> {
  const { limit = 1_000 } = options;
  const { keyBytes } = settings.limits;
  const format = formatOf(options, settings);
  wholeNumber('limit', limit, MOST);
  if (typeof pattern !== 'string' || pattern === '' || Buffer.byteLength(pattern) > keyBytes) {
    const found = typeof pattern === 'string' && pattern !== '' ? 'longer' : describe(pattern);
    throw new LockKeyError(
      `A pattern of keys is a string of up to ${keyBytes} bytes, "*" for all; this is ${found}.`,
    );
  }
  refuseAllStrings(pattern, format);
  const mayBe = (name: string): boolean => isLockName(name, keyBytes);
  const { names, found } = await listedLocks(client, { pattern, most: limit, mayBe, format });
  const locks = found
    .map(([key, snapshot]) => inspection(key, snapshot))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  if (names >= limit) cut.add(locks);
  return locks;
}

/** How many locks are inspected at once, so that other commands have their turn between. */
const AT_ONCE = 100;

/** The locks that are not free, and how many names were found: some may be free by then. */
export async function listedLocks(
  client: LockClient,
  search: NameSearch,
): Promise<{ names: number; found: [key: string, snapshot: Snapshot][] }> {
  const names = await client.names(search);
  const found: [string, Snapshot][] = [];
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const some = names.slice(at, at + AT_ONCE);
    const looks = some.map((key) => client.inspect(key, NAMED, search.format));
    const snapshots = await Promise.all(looks);
    some.forEach((key, nth) => found.push([key, snapshots[nth]!]));
  }
  return { names: names.length, found: found.filter(([, { type }]) => type !== 'none') };
}

/** Whether a lock may have this name, which none of the other keys of locks has. */
export function isLockName(name: string, keyBytes: number): boolean {
  try {
    return lockName(name, keyBytes) === name;
  } catch {
    return false;
  }
}
