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

/** The abilities of a dialect beside exclusion, waiting by polls, renewal and release. */
export interface DialectAbilities {
  /** The dialect's grants have fencing tokens, which grow among the holders of this library; others have none. */
  readonly fencing: boolean;
  /** Several callers may hold a lock together (`mode: 'shared'`). */
  readonly shared: boolean;
  /** A lock can stay taken after it was given back (`minHold`). */
  readonly minHold: boolean;
  /** Redis keeps a lock without an end: after a crash, the next caller finds that its time is past, and takes it over. */
  readonly lasting: boolean;
}

const FORMATS = [
  'plain',
  'timestamp',
  'redisson',
  'symfony',
  'spring',
  'python-redis-lock',
] as const;

/** A {@link LockDialect} checked; equal settings are one object for as long as they are cached. */
export interface DialectSettings extends DialectAbilities {
  /** The folder of locks/dialects that implements the format. */
  readonly format: (typeof FORMATS)[number];
  /** The dialect's name in messages. */
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

/** Each name that option "dialect" takes. */
export const DIALECT_NAMES: readonly string[] = [
  'native',
  ...new Set([...FORMATS, ...Object.keys(PRESETS), 'laravel']),
];

/** Settings by their JSON text, since a call may have a prefix for each tenant. */
const known = new BoundedCache((text) => JSON.parse(text) as DialectSettings);

/**
 * The settings of a dialect; undefined for `'native'`.
 * @throws LockOptionsError if there is no such dialect, or an option of it is wrong.
 */
export function dialectSettings(given: unknown): DialectSettings | undefined {
  if (given === 'native') return undefined;
  const choice = (typeof given === 'string' ? { name: given } : given) as DialectChoice | null;
  if (typeof choice !== 'object' || choice === null || typeof choice.name !== 'string') {
    throw new LockOptionsError(
      'Option "dialect" takes the name of a dialect, or an object with its "name" and options.',
    );
  }
  return known.get(JSON.stringify(settingsOf(choice)));
}

function settingsOf(choice: DialectChoice): DialectSettings {
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

function plain(choice: PlainDialect): DialectSettings {
  const { name } = choice;
  if (!Object.hasOwn(PRESETS, name)) {
    throw new LockOptionsError(
      `There is no dialect "${name}". Dialects: ${DIALECT_NAMES.join(', ')}.`,
    );
  }
  return plainAt(PRESETS[name], choice);
}

function laravel(choice: LaravelDialect): DialectSettings {
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
): DialectSettings {
  refuseOthers(rest, unknownTo(name));
  const abilities = { fencing: true, shared: false, minHold: true, lasting: false };
  const before = affix(optionName('prefix'), prefix ?? usual);
  const after = affix(optionName('suffix'), suffix ?? '');
  const timestampCompat = guard !== undefined;
  if (timestampCompat) oneOf(optionName('guard'), guard, ['timestamp']);
  return { format: 'plain', name, prefix: before, suffix: after, timestampCompat, ...abilities };
}

function timestamp({
  name,
  prefix,
  suffix,
  unit,
  protocol,
  ...rest
}: TimestampDialect): DialectSettings {
  refuseOthers(rest, unknownTo(name));
  const lasting =
    oneOf(optionName('protocol'), protocol ?? 'script', ['commands', 'script']) === 'commands';
  return {
    format: 'timestamp',
    name,
    prefix: affix(optionName('prefix'), prefix ?? ''),
    suffix: affix(optionName('suffix'), suffix ?? ''),
    unit: oneOf<'s' | 'ms' | 'float'>(optionName('unit'), unit ?? 's', ['s', 'ms', 'float']),
    fencing: !lasting,
    shared: false,
    minHold: !lasting,
    lasting,
  };
}

function redisson({ name, kind, prefix, sharded, ...rest }: RedissonDialect): DialectSettings {
  refuseOthers(rest, unknownTo(name));
  if ((kind as string | undefined) === 'fair') {
    throw new LockOptionsError(
      'Dialect "redisson" has no kind \'fair\': the queue of an RFairLock goes by the clocks of its clients. Use an RLock on both sides.',
    );
  }
  const kinds = ['lock', 'fenced', 'readWrite'] as const;
  return {
    format: 'redisson',
    name,
    prefix: affix(optionName('prefix'), prefix ?? ''),
    suffix: '',
    kind: oneOf<(typeof kinds)[number]>(optionName('kind'), kind ?? 'lock', kinds),
    publish: oneOf(optionName('sharded'), sharded ?? false, [true, false]) ? 'SPUBLISH' : 'PUBLISH',
    fencing: true,
    shared: kind === 'readWrite',
    minHold: false,
    lasting: false,
  };
}

function symfony({ name, prefix, ...rest }: SymfonyDialect): DialectSettings {
  refuseOthers(rest, unknownTo(name));
  const abilities = { fencing: true, shared: true, minHold: false, lasting: false };
  const before = affix(optionName('prefix'), prefix ?? '');
  return { format: name, name, prefix: before, suffix: '', ...abilities };
}

function spring({ name, registry, publish, ...rest }: SpringDialect): DialectSettings {
  refuseOthers(rest, unknownTo(name));
  if (registry === undefined) {
    throw new LockOptionsError(
      'Dialect "spring" needs the key of the registry: { name: \'spring\', registry }.',
    );
  }
  const told = oneOf(optionName('publish'), publish ?? true, [true, false]);
  return {
    format: name,
    name,
    prefix: `${affix(optionName('registry'), registry)}:`,
    suffix: '',
    ...(told && { publish: 'PUBLISH' }),
    fencing: true,
    shared: false,
    minHold: true,
    lasting: false,
  };
}

function pythonRedisLock({ name, ...rest }: PythonRedisLockDialect): DialectSettings {
  refuseOthers(rest, unknownTo(name));
  const abilities = { fencing: true, shared: false, minHold: false, lasting: false };
  return { format: name, name, prefix: 'lock:', suffix: '', ...abilities };
}

/** Libraries with locks on a majority of servers (Redlock), in the format of this library's quorum. */
const REDLOCKS: ReadonlySet<string> = new Set<PlainPreset>([
  'redlock',
  'redlock-universal',
  'redsync',
  'pottery',
  'RedLock.net',
]);

/** @throws LockOptionsError if the module keeps locks in a way that clients of the dialect do not. */
export function checkStore(
  { name, prefix }: DialectSettings,
  { nodes, replicas }: { readonly nodes?: unknown; readonly replicas?: unknown },
): void {
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
