import { LockOptionsError } from '../errors/index.js';
import { PRESETS, type PlainPreset } from './dialect-presets.js';

/** The lock of most libraries: a value of the holder's own at the lock's name, `SET NX PX`, removed by compare-and-delete. */
export interface PlainDialect {
  readonly name: 'plain' | PlainPreset;
  /** Stands before the lock's name in Redis, where the other side has another than its library's default. */
  readonly prefix?: string | undefined;
}

/**
 * The lock of the SETNX articles: its value is the moment at which it ends. All who share it should have clocks that
 * agree to a second, and no time-out shorter than our `ttl`: who loses a take-over has moved the winner's time to his
 * own. A crash costs the rest of the lease and a second.
 */
export interface TimestampDialect {
  readonly name: 'timestamp';
  /** Stand before and after the lock's name in Redis; nothing if nothing is said. */
  readonly prefix?: string | undefined;
  readonly suffix?: string | undefined;
  /** What a value counts: whole seconds, whole ms, or seconds with a fraction. Without it seconds. */
  readonly unit?: 's' | 'ms' | 'float' | undefined;
  /**
   * `'commands'`: SETNX, GET and GETSET one after the other, no time to live, as the articles' clients do; such a lock
   * has no fencing tokens. `'script'`: the same in one step, with a time to live. Without it `'script'`.
   */
  readonly protocol?: 'commands' | 'script' | undefined;
}

type Choice = PlainDialect | TimestampDialect;

/** How another service writes its locks; a name alone for all its defaults. `'native'`: our own, where the module has a dialect. */
export type LockDialect = 'native' | Choice['name'] | Choice;

/** What a dialect can beside excluding others, waiting by asking again, renewing and giving back. */
export interface DialectAbilities {
  /** Its grants have fencing tokens, which grow from one of ours to the next; the others' holders have none. */
  readonly fencing: boolean;
  /** Several may hold a lock together (`mode: 'shared'`). */
  readonly shared: boolean;
  /** A lock can stay taken after it was given back (`minHold`). */
  readonly minHold: boolean;
  /** Redis keeps it without an end: after a crash the next who asks finds it past and takes it over. */
  readonly lasting: boolean;
}

/** A {@link LockDialect} checked; equal ones are the same object. */
export interface DialectSettings extends DialectAbilities {
  /** Which folder of locks/dialects speaks it. */
  readonly format: 'plain' | 'timestamp';
  /** As messages name it. */
  readonly name: string;
  /** Stand before and after a lock's name in Redis, instead of the module's `keyPrefix`. */
  readonly prefix: string;
  readonly suffix: string;
  /** Of a timestamp. */
  readonly unit?: 's' | 'ms' | 'float';
}

const known = new Map<string, DialectSettings>();

/**
 * What a dialect comes down to; undefined for `'native'`.
 * @throws LockOptionsError when there is no such dialect, or an option of it is wrong.
 */
export function dialectSettings(given: unknown): DialectSettings | undefined {
  if (given === 'native') return undefined;
  const choice = (typeof given === 'string' ? { name: given } : given) as Choice | null;
  if (typeof choice !== 'object' || choice === null || typeof choice.name !== 'string') {
    throw new LockOptionsError(
      'Option "dialect" takes the name of a dialect, or an object with its "name" and options.',
    );
  }
  const settings = choice.name === 'timestamp' ? timestamp(choice) : plain(choice);
  const text = JSON.stringify(settings);
  if (!known.has(text)) known.set(text, settings);
  return known.get(text);
}

function plain({ name, prefix, ...rest }: PlainDialect): DialectSettings {
  if (!Object.hasOwn(PRESETS, name)) {
    const names = ['native', 'timestamp', ...Object.keys(PRESETS)].join(', ');
    throw new LockOptionsError(`There is no dialect "${name}". Dialects: ${names}.`);
  }
  refuseOthers(name, rest);
  const abilities = { fencing: true, shared: false, minHold: true, lasting: false };
  const before = affix('prefix', prefix ?? PRESETS[name]);
  return { format: 'plain', name, prefix: before, suffix: '', ...abilities };
}

function timestamp({
  name,
  prefix,
  suffix,
  unit,
  protocol,
  ...rest
}: TimestampDialect): DialectSettings {
  refuseOthers(name, rest);
  const lasting = oneOf('protocol', protocol ?? 'script', ['commands', 'script']) === 'commands';
  return {
    format: 'timestamp',
    name,
    prefix: affix('prefix', prefix ?? ''),
    suffix: affix('suffix', suffix ?? ''),
    unit: oneOf<'s' | 'ms' | 'float'>('unit', unit ?? 's', ['s', 'ms', 'float']),
    fencing: !lasting,
    shared: false,
    minHold: !lasting,
    lasting,
  };
}

function refuseOthers(name: string, rest: object): void {
  const [other] = Object.keys(rest);
  if (other !== undefined) {
    throw new LockOptionsError(`Dialect "${name}" has no option "${other}".`);
  }
}

function oneOf<Word extends string>(option: string, given: Word, words: readonly Word[]): Word {
  if (words.includes(given)) return given;
  const all = words.map((word) => `'${word}'`).join(', ');
  throw new LockOptionsError(`Option "${option}" of a dialect takes ${all}.`);
}

/** What stands around a name may not decide the cluster slot, nor end what a name begins. */
function affix(option: string, given: unknown): string {
  if (typeof given === 'string' && given.length <= 256 && !/[{}\p{Cc}]/u.test(given)) return given;
  throw new LockOptionsError(
    `Option "${option}" of a dialect takes a string of up to 256 characters without braces.`,
  );
}
