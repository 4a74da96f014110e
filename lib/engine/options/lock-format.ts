import { LockOptionsError } from '../errors/index.js';
import { BoundedCache } from './bounded-cache.js';
import {
  type DialectChoice,
  type LaravelDialect,
  type PlainDialect,
  type PlainPreset,
  PRESETS,
  type PythonRedisLockDialect,
  type RedissonDialect,
  type SpringDialect,
  type SymfonyDialect,
  type TimestampDialect,
} from './dialect-choice.js';
import { affix, oneOf, refuseOthers } from './option-checks.js';

/** The abilities of a format beside exclusion, renewal and release. */
export interface FormatAbilities {
  /**
   * Callers queue in Redis: with that come turns, `maxWaiting`, permits, conditions, downgrades and hand-over. Without,
   * waiting callers poll.
   */
  readonly queue: boolean;
  /** Grants have fencing tokens, which grow among the holders of this library; others have none. */
  readonly fencing: boolean;
  /** Several callers may hold a lock together (`mode: 'shared'`). */
  readonly shared: boolean;
  /** A lock can stay taken after it was given back (`minHold`). */
  readonly minHold: boolean;
  /** Redis keeps a lock without an end: after a crash, the next caller finds that its time is past, and takes it over. */
  readonly lasting: boolean;
}

const FAMILIES = [
  'native',
  'plain',
  'timestamp',
  'redisson',
  'symfony',
  'spring',
  'python-redis-lock',
] as const;

/** How a lock is written in Redis: natively, or in a dialect. Equal dialects are one object for as long as they are cached. */
export interface LockFormat extends FormatAbilities {
  /** Which code reads and writes the format: for a dialect, a folder of locks/dialects. */
  readonly family: (typeof FAMILIES)[number];
  /** The name in messages. */
  readonly name: string;
  /** The texts before and after a lock's name in Redis, instead of the module's `keyPrefix`. */
  readonly prefix: string;
  readonly suffix: string;
  /** For a plain lock: whether it is protected from clients of the SETNX articles. */
  readonly timestampCompat?: boolean;
  /** The unit of a timestamp. */
  readonly unit?: 's' | 'ms' | 'float';
  /** The kind of a Redisson lock. */
  readonly kind?: 'lock' | 'fenced' | 'readWrite';
  /** The command that wakes waiters of Redisson or Spring. */
  readonly publish?: 'PUBLISH' | 'SPUBLISH';
}

/** The library's own format. Its keys begin with the module's `keyPrefix`. */
export const NATIVE: LockFormat = {
  family: 'native',
  name: 'native',
  prefix: '',
  suffix: '',
  queue: true,
  fencing: true,
  shared: true,
  minHold: true,
  lasting: false,
};

/** The abilities of most dialects, each of which says what it has beyond them. */
const USUAL = {
  suffix: '',
  queue: false,
  fencing: true,
  shared: false,
  minHold: false,
  lasting: false,
};

/** Each name that option "dialect" takes. */
export const DIALECT_NAMES: readonly string[] = [
  ...new Set([...FAMILIES, ...Object.keys(PRESETS), 'laravel']),
];

/** Settings by their JSON text, since a call may have a prefix for each tenant. */
const known = new BoundedCache((text) => JSON.parse(text) as LockFormat);

/**
 * The format that option "dialect" names.
 * @throws LockOptionsError if there is no such dialect, or an option of it is wrong.
 */
export function lockFormat(given: unknown): LockFormat {
  if (given === 'native') return NATIVE;
  const choice = (typeof given === 'string' ? { name: given } : given) as DialectChoice | null;
  if (typeof choice !== 'object' || choice === null || typeof choice.name !== 'string') {
    throw new LockOptionsError(
      'Option "dialect" takes the name of a dialect, or an object with its "name" and options.',
    );
  }
  return known.get(JSON.stringify(settingsOf(choice)));
}

function settingsOf(choice: DialectChoice): LockFormat {
  switch (choice.name) {
    case 'timestamp':
      return timestamp(choice);
    case 'redisson':
      return redisson(choice);
    case 'symfony':
      return symfony(choice);
    case 'spring':
      return spring(choice);
    case 'python-redis-lock':
      return pythonRedisLock(choice);
    case 'laravel':
      return laravel(choice);
    default:
      return plain(choice);
  }
}

function plain(choice: PlainDialect): LockFormat {
  const { name } = choice;
  if (!Object.hasOwn(PRESETS, name)) {
    throw new LockOptionsError(
      `There is no dialect "${name}". Dialects: ${DIALECT_NAMES.join(', ')}.`,
    );
  }
  return plainAt(PRESETS[name], choice);
}

function laravel(choice: LaravelDialect): LockFormat {
  if (choice.prefix !== undefined) return plainAt('', choice);
  throw new LockOptionsError(
    'Dialect "laravel" needs the "prefix" of its keys, which differs between versions and applications: { name: \'laravel\', prefix }. ' +
      'Up to Laravel 10 it ends with a colon, as "laravel_database_laravel_cache_:", from Laravel 11 on without; "redis-cli --scan" shows it.',
  );
}

/** A plain lock; `usual`: the prefix of its library, unless the option gives another one. */
function plainAt(
  usual: string,
  { name, prefix, suffix, guard, ...rest }: PlainDialect | LaravelDialect,
): LockFormat {
  refuseOthers(rest, unknownTo(name));
  const timestampCompat = guard !== undefined;
  if (timestampCompat) oneOf(optionName('guard'), guard, ['timestamp']);
  return {
    ...USUAL,
    family: 'plain',
    name,
    prefix: affix(optionName('prefix'), prefix ?? usual),
    suffix: affix(optionName('suffix'), suffix ?? ''),
    minHold: true,
    timestampCompat,
  };
}

function timestamp({
  name,
  prefix,
  suffix,
  unit,
  protocol,
  ...rest
}: TimestampDialect): LockFormat {
  refuseOthers(rest, unknownTo(name));
  const lasting =
    oneOf(optionName('protocol'), protocol ?? 'script', ['commands', 'script']) === 'commands';
  return {
    ...USUAL,
    family: 'timestamp',
    name,
    prefix: affix(optionName('prefix'), prefix ?? ''),
    suffix: affix(optionName('suffix'), suffix ?? ''),
    unit: oneOf<'s' | 'ms' | 'float'>(optionName('unit'), unit ?? 's', ['s', 'ms', 'float']),
    fencing: !lasting,
    minHold: !lasting,
    lasting,
  };
}

function redisson({ name, kind, prefix, sharded, ...rest }: RedissonDialect): LockFormat {
  refuseOthers(rest, unknownTo(name));
  if ((kind as string | undefined) === 'fair') {
    throw new LockOptionsError(
      'Dialect "redisson" has no kind \'fair\': the queue of an RFairLock goes by the clocks of its clients. Use an RLock on both sides.',
    );
  }
  const kinds = ['lock', 'fenced', 'readWrite'] as const;
  return {
    ...USUAL,
    family: 'redisson',
    name,
    prefix: affix(optionName('prefix'), prefix ?? ''),
    kind: oneOf<(typeof kinds)[number]>(optionName('kind'), kind ?? 'lock', kinds),
    publish: oneOf(optionName('sharded'), sharded ?? false, [true, false]) ? 'SPUBLISH' : 'PUBLISH',
    shared: kind === 'readWrite',
  };
}

function symfony({ name, prefix, ...rest }: SymfonyDialect): LockFormat {
  refuseOthers(rest, unknownTo(name));
  const before = affix(optionName('prefix'), prefix ?? '');
  return { ...USUAL, family: name, name, prefix: before, shared: true };
}

function spring({ name, registry, publish, ...rest }: SpringDialect): LockFormat {
  refuseOthers(rest, unknownTo(name));
  if (registry === undefined) {
    throw new LockOptionsError(
      'Dialect "spring" needs the key of the registry: { name: \'spring\', registry }.',
    );
  }
  const told = oneOf(optionName('publish'), publish ?? true, [true, false]);
  return {
    ...USUAL,
    family: name,
    name,
    prefix: `${affix(optionName('registry'), registry)}:`,
    ...(told && { publish: 'PUBLISH' }),
    minHold: true,
  };
}

function pythonRedisLock({ name, ...rest }: PythonRedisLockDialect): LockFormat {
  refuseOthers(rest, unknownTo(name));
  return { ...USUAL, family: name, name, prefix: 'lock:' };
}

/** Libraries with locks on a majority of servers (Redlock), in the format of this library's quorum. */
const REDLOCKS: ReadonlySet<string> = new Set<PlainPreset>([
  'redlock',
  'redlock-universal',
  'redsync',
  'pottery',
  'RedLock.net',
]);

/** @throws LockOptionsError if the module keeps locks in a way that clients of a dialect do not. */
export function checkStore(
  { family, name, prefix }: LockFormat,
  { nodes, replicas }: { readonly nodes?: unknown; readonly replicas?: unknown },
): void {
  if (family === 'native') return;
  if (nodes !== undefined) {
    const why = REDLOCKS.has(name)
      ? `its format is a quorum's own: leave it out, and set "keyPrefix" to "${prefix}".`
      : `clients of "${name}" lock on one Redis. Use a module without "nodes" for it.`;
    throw excluded(name, 'nodes', why);
  }
  if (replicas !== undefined) {
    const why = `clients of "${name}" wait for no replica. Use a module without "replicas" for it.`;
    throw excluded(name, 'replicas', why);
  }
}

function excluded(name: string, option: string, why: string): LockOptionsError {
  return new LockOptionsError(
    `Dialect "${name}" and option "${option}" exclude each other: ${why}`,
  );
}

/** The name of a dialect's option in messages. */
function optionName(option: string): string {
  return `"${option}" of a dialect`;
}

/** The refusal of an option that the dialect does not have. */
function unknownTo(name: string): (option: string) => string {
  return (option) => `Dialect "${name}" has no option "${option}".`;
}
