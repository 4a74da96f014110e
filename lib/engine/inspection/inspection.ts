import { createHash } from 'node:crypto';
import type { LockClient } from '../client/lock-client.js';
import { LockKeyError, LockOptionsError } from '../errors/index.js';
import { describe, lockName } from '../keys/index.js';
import { isFenced, isHandedOver, MARKERS, processOf } from '../locks/holder.js';
import type { NameSearch } from '../locks/lock-names.js';
import type { Snapshot } from '../locks/lock-store.js';
import {
  checkStore,
  type DialectSettings,
  dialectSettings,
  type LockDialect,
  type ModuleSettings,
  refuseOthers,
  wholeNumber,
} from '../options/index.js';
import { TOKEN_LEAD } from '../protocol/constants.js';

/** The options of `inspect` and `forceRelease` of `LockService`. */
export interface InspectOptions {
  /** The format of the lock, as `acquire` was given it. Default: the module's. */
  readonly dialect?: LockDialect | undefined;
}

/**
 * In whose format a lock is looked for; undefined: ours.
 * @throws LockOptionsError when there is no such dialect or option, or the module's store has no locks of others.
 */
export function dialectOf(
  options: InspectOptions & { readonly limit?: number | undefined },
  settings: ModuleSettings,
): DialectSettings | undefined {
  const { dialect: given, limit: _limit, ...others } = options;
  refuseOthers(others);
  const dialect = given === undefined ? settings.call.dialect : dialectSettings(given);
  if (dialect) checkStore(dialect, settings);
  return dialect;
}

/** A process that holds a lock or waits for it. */
export interface LockParty {
  readonly host: string;
  readonly pid: number;
}

/** What can be seen of a lock from outside; never a holder id. */
export interface LockInspection {
  /** The key of the lock, without the prefix. */
  readonly key: string;
  /**
   * `free`: nobody holds it. `held`: one caller holds it, or several together. `kept`: nobody holds it, but its minimum hold
   * is not over. `foreign`: another library's lock, or no lock at all.
   */
  readonly state: 'free' | 'held' | 'kept' | 'foreign';
  /** How it is held: alone, by readers, or by permits. Undefined unless it is `held`. */
  readonly mode?: 'exclusive' | 'shared' | 'permits';
  /**
   * Who holds it, if that is a process of this library, since when by Redis' clock, and for how long by then, in ms. A
   * process keeps its `since` while it passes the lock on among its own callers. Without fencing tokens Redis does not know
   * since when.
   */
  readonly holder?: LockParty & { readonly since?: Date; readonly heldFor?: number };
  /** Nobody works under it: `holder` gave the lease away by `handOver()`, and no process has restored it yet. Else undefined. */
  readonly handedOver?: true;
  /** Those who hold it together, once a permit, each with what is left of the lease in ms; at most 100. */
  readonly holders?: readonly (LockParty & { readonly remaining: number })[];
  /** What is left of the lease in ms; undefined if it is free, Infinity if it never ends. */
  readonly remaining?: number;
  /**
   * The fencing token of the holder: the first of those that its grant reserved. Its process uses the next ones while it
   * passes the lock on among its own callers. Undefined where nobody holds the lock
   * alone, or without tokens.
   */
  readonly fencingToken?: number;
  /** The last token that was reserved, for whatever lock: every later grant has a greater one. */
  readonly lastFencingToken?: number;
  /** How many places wait; in strict order up to 64 of each process may just have had their turns. */
  readonly waiting: number;
  /** The first of them, each with the ms it has waited. */
  readonly waiters: readonly (LockParty & { readonly age: number })[];
  /** How many await a condition of the lock. */
  readonly awaiting: number;
}

/** How many waiters, or holders, are named. */
export const NAMED = 100;

/** Looks at one lock. */
export async function inspectLock(
  client: LockClient,
  key: string,
  dialect?: DialectSettings,
): Promise<LockInspection> {
  return inspection(key, await client.inspect(key, NAMED, dialect));
}

export function inspection(key: string, snapshot: Snapshot): LockInspection {
  const party =
    snapshot.type === 'string' || snapshot.foreign ? processOf(snapshot.holder) : undefined;
  const { fencingToken: lastFencingToken, remaining, mode } = snapshot;
  const fencingToken = party && isFenced(snapshot.holder) ? snapshot.firstToken : undefined;
  const since = sinceOf(fencingToken, snapshot.now);
  const lock: LockInspection = {
    key,
    state: snapshot.foreign ? 'held' : stateOf(snapshot, party),
    ...(mode && {
      mode,
      holders: snapshot.holders.map(({ holder, remaining: left }) => ({
        ...(processOf(holder) ?? UNKNOWN),
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
      ...(processOf(entry) ?? UNKNOWN),
      age: Math.round(age),
    })),
  };
  if (snapshot.sight !== undefined) sights.set(lock, snapshot.sight);
  return lock;
}

/** Whom each shows. */
const sights = new WeakMap<LockInspection, string>();

/** Whom a lock shows, as `LockClient.force` takes it: the same text for as long as the same callers hold it. Undefined if it is free. */
export function sightOf(lock: LockInspection): string | undefined {
  return sights.get(lock);
}

/** The same for browsers: it tells no holder id. */
export function grantOf(lock: LockInspection): string | undefined {
  const sight = sightOf(lock);
  return sight && createHash('sha256').update(sight).digest('base64url').slice(0, 16);
}

/** No token is a time that counts something else, or was minted before Redis' clock was set back. */
const EARLIEST = 1_000_000_000_000;

/** When a token was minted, if it says so: it is the µs of that moment, or a little more; `now` in ms. */
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
  return holder === MARKERS.kept ? 'kept' : 'foreign';
}

/** The most locks one list may have. */
const MOST = 10_000;

/** The options of `LockService.list`. */
export interface ListOptions extends InspectOptions {
  /** The most locks that the list may have. From 1 to 10,000. @default 1000 */
  readonly limit?: number | undefined;
}

/** Lists whose search ended at its limit. */
const cut = new WeakSet<readonly LockInspection[]>();

/** Whether there may be more locks than a list of {@link listLocks} has: it may have fewer than its limit all the same. */
export function isCut(locks: readonly LockInspection[]): boolean {
  return cut.has(locks);
}

/** @throws LockOptionsError where strings that are no locks would be taken for some: nothing in key or value tells them apart. */
export function refuseAllStrings(pattern: string, dialect: DialectSettings | undefined): void {
  const anyKey = dialect && dialect.prefix + dialect.suffix === '' && /^\*+$/.test(pattern);
  if (!anyKey || !['plain', 'timestamp'].includes(dialect.format)) return;
  throw new LockOptionsError(
    `Without a prefix, dialect "${dialect.name}" takes every string of Redis for a lock: give it a "prefix", or a pattern of keys that is more than "*".`,
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
  const dialect = dialectOf(options, settings);
  wholeNumber('limit', limit, MOST);
  if (typeof pattern !== 'string' || pattern === '' || Buffer.byteLength(pattern) > keyBytes) {
    const found = typeof pattern === 'string' && pattern !== '' ? 'longer' : describe(pattern);
    throw new LockKeyError(
      `A pattern of keys is a string of up to ${keyBytes} bytes, "*" for all; this is ${found}.`,
    );
  }
  refuseAllStrings(pattern, dialect);
  const mayBe = (name: string): boolean => isLockName(name, keyBytes);
  const { names, found } = await listedLocks(client, { pattern, most: limit, mayBe, dialect });
  const locks = found
    .map(([key, snapshot]) => inspection(key, snapshot))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  if (names >= limit) cut.add(locks);
  return locks;
}

/** How many locks are looked at in one go, so that others have their turn between. */
const AT_ONCE = 100;

/** The locks that are not free, as {@link LockClient.inspect} sees each, and of how many names: some may be free by then. */
export async function listedLocks(
  client: LockClient,
  search: NameSearch,
): Promise<{ names: number; found: [key: string, snapshot: Snapshot][] }> {
  const names = await client.names(search);
  const found: [string, Snapshot][] = [];
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const some = names.slice(at, at + AT_ONCE);
    const looks = some.map((key) => client.inspect(key, NAMED, search.dialect));
    const snapshots = await Promise.all(looks);
    some.forEach((key, nth) => found.push([key, snapshots[nth]!]));
  }
  return { names: names.length, found: found.filter(([, { type }]) => type !== 'none') };
}

/** Whether a lock may have this name: none of the other keys of locks has. */
export function isLockName(name: string, keyBytes: number): boolean {
  try {
    return lockName(name, keyBytes) === name;
  } catch {
    return false;
  }
}
