import { heldAlone, modeAt, processOf } from '../../../engine/locks/holder.js';
import { KEPT } from '../../../engine/protocol/constants.js';
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

/** What is found of keys, beside that locks are held: a finding names them, in this order. */
const FAULTS = {
  endlessLock: (which: string) =>
    problem(
      'keys',
      `No time to live: ${which}. Such a lock is never free by itself, also when its holder is dead.`,
      'Free each: nest-redis-lock release <key>. Find out who ran PERSIST or SET on it.',
    ),
  endlessOther: (which: string) =>
    warning(
      'keys',
      `No time to live: ${which}. The library gives one to each key beside a lock.`,
      'Find out who ran PERSIST. Delete them by redis-cli DEL while nobody uses the lock.',
    ),
  longHeld: (which: string) =>
    warning(
      'keys',
      `Held for more than a day: ${which}.`,
      'Look at each: nest-redis-lock inspect <key>. Option "maxHold" ends the lease of a stuck holder.',
    ),
  old: (which: string) =>
    warning(
      'keys',
      `Of an older version: ${which}. This one neither reads nor removes them.`,
      'Delete them by redis-cli DEL once no process of that version runs.',
    ),
  foreign: (which: string) =>
    warning(
      'keys',
      `No locks of this library: ${which}. A lock of such a name is refused (ForeignLockError).`,
      'Give the application a keyPrefix that nothing else uses, or the dialect of those locks.',
    ),
};

/** What a key is, and its name in a finding. */
type Mark = readonly [is: 'lock' | keyof typeof FAULTS, name: string];

/** Checks the keys under the prefix at a server, without a write. */
export async function keyFindings(
  connection: RedisConnection,
  prefix: string,
  keyBytes: number,
): Promise<Finding[]> {
  const seen = new Set<string>();
  const marks: Mark[] = [];
  let isWhole = true;
  const end = systemClock.monotonic() + LONGEST;
  try {
    for (const glob of globsOf(prefix)) {
      for await (const keys of scanned(connection, glob)) {
        const fresh = [...new Set(keys)].filter((key) => !seen.has(key));
        for (const key of fresh) seen.add(key);
        const looks = fresh.map((key) => marksOf(key, kindOf(key, prefix, keyBytes), connection));
        marks.push(...(await Promise.all(looks)).flat());
        if (seen.size < MOST && systemClock.monotonic() < end) continue;
        isWhole = false;
        break;
      }
    }
  } catch (error) {
    const why = `The keys under "${prefix}" cannot be looked at: ${saysOf(error as Error)}.`;
    return [warning('keys', why, 'Grant +scan +type +pttl +get, or run doctor as another user.')];
  }
  const found = (is: Mark[0]): string[] =>
    marks.flatMap(([each, name]) => (each === is ? name : []));
  const faults = Object.entries(FAULTS).flatMap(([is, finding]) => {
    const names = prefix === '' && is === 'foreign' ? [] : found(is as keyof typeof FAULTS);
    return names.length > 0 ? [finding(listOf(names))] : [];
  });
  const looked = isWhole ? '' : ` These are the first: there are more than doctor looks at.`;
  const all = `${seen.size} under "${prefix}", ${found('lock').length} of them locks that are held.${looked}`;
  return [ok('keys', all), ...faults];
}

/** With an empty prefix, locks are among all other keys. */
function globsOf(prefix: string): string[] {
  return prefix === '' ? ['*'] : [globOf(prefix, '*'), globOf(`{${prefix}`, '*')];
}

async function marksOf(key: string, kind: KeyKind, connection: RedisConnection): Promise<Mark[]> {
  const [type, left] = (await Promise.all([
    connection.send('type', [key]),
    connection.send('pttl', [key]),
  ])) as [string, number];
  if (type === 'none' || left === -2) return [];
  const named = type === 'string' ? key : `${key} (${type})`;
  if (kind === 'lock' && type === 'string') return marksOfLock(key, left, connection);
  if (kind === 'lock' || kind === 'foreign') return [['foreign', named]];
  if (kind === 'old') return [['old', named]];
  return left === -1 && kind !== 'generation' ? [['endlessOther', named]] : [];
}

async function marksOfLock(
  key: string,
  left: number,
  connection: RedisConnection,
): Promise<Mark[]> {
  const value = (await connection.send('get', [key])) as string | null;
  if (value === null) return [];
  const isOurs = processOf(value) !== undefined || modeAt(value) !== undefined || value === KEPT;
  if (!isOurs) return [['foreign', key]];
  const marks: Mark[] = [['lock', key]];
  if (left === -1) marks.push(['endlessLock', key]);
  const { firstToken } = heldAlone(value);
  const since = (firstToken ?? Infinity) / 1_000;
  if (systemClock.wall() - since > LONG_HELD) marks.push(['longHeld', key]);
  return marks;
}

/** Names the first of these keys. */
function listOf(keys: readonly string[]): string {
  const named = keys
    .toSorted()
    .slice(0, NAMED)
    .map((key) => `"${key}"`)
    .join(', ');
  return keys.length > NAMED ? `${named} and ${keys.length - NAMED} more` : named;
}
