import { heldAlone, modeAt, processOf, MARKERS } from '../../../engine/locks/holder.js';
import { systemClock } from '../../../engine/options/index.js';
import { globOf, type RedisConnection, saysOf, scanned } from '../../../engine/redis/index.js';
import { type Finding, ok, problem, warning } from './finding.js';
import { type KeyKind, kindOf } from './key-kind.js';

/** The most keys of a server that are checked, and the longest time for that, in ms. */
const MOST = 100_000;
const LONGEST = 10_000;
/** The most keys that a finding names. */
const NAMED = 5;
/** A lock held for longer than this, in ms, may have been forgotten. */
const LONG_HELD = 86_400_000;

interface Found {
  readonly keys: Set<string>;
  readonly locks: string[];
  /** Keys without a time to live. */
  readonly endlessLocks: string[];
  readonly endlessOthers: string[];
  readonly old: string[];
  readonly foreign: string[];
  readonly longHeld: string[];
  isWhole: boolean;
}

/** Checks the keys under the prefix at a server, without a write. */
export async function keyFindings(
  connection: RedisConnection,
  prefix: string,
  keyBytes: number,
): Promise<Finding[]> {
  const found: Found = {
    keys: new Set(),
    locks: [],
    endlessLocks: [],
    endlessOthers: [],
    old: [],
    foreign: [],
    longHeld: [],
    isWhole: true,
  };
  const end = systemClock.monotonic() + LONGEST;
  try {
    for (const glob of globsOf(prefix)) {
      for await (const keys of scanned(connection, glob)) {
        const fresh = keys.filter((key) => !found.keys.has(key));
        await Promise.all(
          fresh.map(async (key) => {
            found.keys.add(key);
            await sort(key, kindOf(key, prefix, keyBytes), connection, found);
          }),
        );
        if (found.keys.size < MOST && systemClock.monotonic() < end) continue;
        found.isWhole = false;
        break;
      }
    }
  } catch (error) {
    const why = `The keys under "${prefix}" cannot be looked at: ${saysOf(error as Error)}.`;
    return [warning('keys', why, 'Grant +scan +type +pttl +get, or run doctor as another user.')];
  }
  return findings(found, prefix);
}

/** With an empty prefix, locks are among all other keys. */
function globsOf(prefix: string): string[] {
  return prefix === '' ? ['*'] : [globOf(prefix, '*'), globOf(`{${prefix}`, '*')];
}

async function sort(
  key: string,
  kind: KeyKind,
  connection: RedisConnection,
  found: Found,
): Promise<void> {
  const [type, left] = (await Promise.all([
    connection.send('type', [key]),
    connection.send('pttl', [key]),
  ])) as [string, number];
  if (type === 'none' || left === -2) return;
  const named = type === 'string' ? key : `${key} (${type})`;
  if (kind === 'foreign') found.foreign.push(named);
  else if (kind === 'old') found.old.push(named);
  else if (kind === 'lock') await sortLock(key, type, left, connection, found);
  else if (left === -1 && kind !== 'generation') found.endlessOthers.push(named);
}

async function sortLock(
  key: string,
  type: string,
  left: number,
  connection: RedisConnection,
  found: Found,
): Promise<void> {
  if (type !== 'string') return void found.foreign.push(`${key} (${type})`);
  const value = (await connection.send('get', [key])) as string | null;
  if (value === null) return;
  const isOurs =
    processOf(value) !== undefined || modeAt(value) !== undefined || value === MARKERS.kept;
  if (!isOurs) return void found.foreign.push(key);
  found.locks.push(key);
  if (left === -1) found.endlessLocks.push(key);
  const { firstToken } = heldAlone(value);
  const since = (firstToken ?? Infinity) / 1_000;
  if (systemClock.wall() - since > LONG_HELD) found.longHeld.push(key);
}

function findings(found: Found, prefix: string): Finding[] {
  const { keys, locks, endlessLocks, endlessOthers, old, foreign, longHeld, isWhole } = found;
  const looked = isWhole ? '' : ` These are the first: there are more than doctor looks at.`;
  const all = `${keys.size} under "${prefix}", ${locks.length} of them locks that are held.${looked}`;
  return [
    ok('keys', all),
    ...some(endlessLocks, (which) =>
      problem(
        'keys',
        `No time to live: ${which}. Such a lock is never free by itself, also when its holder is dead.`,
        'Free each: nest-redis-lock release <key>. Find out who ran PERSIST or SET on it.',
      ),
    ),
    ...some(endlessOthers, (which) =>
      warning(
        'keys',
        `No time to live: ${which}. The library gives one to each key beside a lock.`,
        'Find out who ran PERSIST. Delete them by redis-cli DEL while nobody uses the lock.',
      ),
    ),
    ...some(longHeld, (which) =>
      warning(
        'keys',
        `Held for more than a day: ${which}.`,
        'Look at each: nest-redis-lock inspect <key>. Option "maxHold" ends the lease of a stuck holder.',
      ),
    ),
    ...some(old, (which) =>
      warning(
        'keys',
        `Of an older version: ${which}. This one neither reads nor removes them.`,
        'Delete them by redis-cli DEL once no process of that version runs.',
      ),
    ),
    ...some(prefix === '' ? [] : foreign, (which) =>
      warning(
        'keys',
        `No locks of this library: ${which}. A lock of such a name is refused (ForeignLockError).`,
        'Give the application a keyPrefix that nothing else uses, or the dialect of those locks.',
      ),
    ),
  ];
}

/** A finding about these keys; none for an empty list. */
function some(keys: readonly string[], finding: (which: string) => Finding): Finding[] {
  if (keys.length === 0) return [];
  const named = keys
    .toSorted()
    .slice(0, NAMED)
    .map((key) => `"${key}"`)
    .join(', ');
  const more = keys.length > NAMED ? ` and ${keys.length - NAMED} more` : '';
  return [finding(named + more)];
}
