import type { DialectSettings } from '../options/index.js';
import type { Administration } from '../leases/administration.js';
import type { Sight } from '../locks/lock-primitive.js';
import { MARKERS, processOf } from '../locks/holder.js';

/** A process that holds a lock or waits for it. */
export interface LockParty {
  readonly host: string;
  readonly pid: number;
}

/** What can be seen of a lock from outside; never a holder id. */
export interface LockInspection {
  readonly key: string;
  /** `kept`: nobody holds it, but its minimum hold is not over. `foreign`: another library's lock, or no lock at all. */
  readonly state: 'free' | 'held' | 'kept' | 'foreign';
  /** What it is held as; undefined unless it is `held`. */
  readonly mode?: 'exclusive' | 'shared' | 'permits';
  /** Who holds it, if that is a process of this library. */
  readonly holder?: LockParty & { readonly since?: Date };
  /** Those who hold it together, once a permit, each with what is left of the lease in ms; at most 100. */
  readonly holders?: readonly (LockParty & { readonly remaining: number })[];
  /** What is left of the lease in ms; undefined if it is free, Infinity if it never ends. */
  readonly remaining?: number;
  /** The last token that was minted. */
  readonly fencingToken?: number;
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
  administration: Administration,
  key: string,
  dialect?: DialectSettings,
): Promise<LockInspection> {
  return inspection(key, await administration.inspect(key, NAMED, dialect));
}

export function inspection(key: string, sight: Sight): LockInspection {
  const party = sight.type === 'string' || sight.foreign ? processOf(sight.holder) : undefined;
  const { fencingToken, remaining, mode } = sight;
  return {
    key,
    state: sight.foreign ? 'held' : stateOf(sight, party),
    ...(mode && {
      mode,
      holders: sight.holders.map(({ holder, remaining: left }) => ({
        ...(processOf(holder) ?? UNKNOWN),
        remaining: left,
      })),
    }),
    ...(party && {
      mode: 'exclusive',
      holder: { ...party, ...(fencingToken && { since: new Date(fencingToken / 1_000) }) },
    }),
    ...(remaining !== -2 && { remaining: remaining === -1 ? Infinity : remaining }),
    ...(fencingToken !== undefined && { fencingToken }),
    waiting: sight.waiting,
    awaiting: sight.awaiting,
    waiters: sight.places.map(({ place, age }) => ({ ...(processOf(place) ?? UNKNOWN), age })),
  };
}

const UNKNOWN: LockParty = { host: 'unknown', pid: 0 };

function stateOf(
  { type, holder, mode }: Sight,
  party: LockParty | undefined,
): LockInspection['state'] {
  if (type === 'none') return 'free';
  if (party || mode) return 'held';
  return holder === MARKERS.kept ? 'kept' : 'foreign';
}
