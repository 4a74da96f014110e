import { LockOptionsError } from '../errors/index.js';
import { PRESETS, type PlainPreset } from './dialect-presets.js';

/** The lock of most libraries: a value of the holder's own at the lock's name, `SET NX PX`, removed by compare-and-delete. */
export interface PlainDialect {
  readonly name: 'plain' | PlainPreset;
  /** Stands before the lock's name in Redis, where the other side has another than its library's default. */
  readonly prefix?: string | undefined;
}

/** How another service writes its locks; a name alone for all its defaults. `'native'`: our own, where the module has a dialect. */
export type LockDialect = 'native' | PlainDialect['name'] | PlainDialect;

/** Which folder of locks/dialects speaks a dialect. */
export type DialectFormat = 'plain';

/** What a dialect can beside excluding others, waiting by asking again, renewing and giving back. */
export interface DialectAbilities {
  /** Its grants have fencing tokens, which grow from one of ours to the next; the others' holders have none. */
  readonly fencing: boolean;
  /** Several may hold a lock together (`mode: 'shared'`). */
  readonly shared: boolean;
  /** A lock can stay taken after it was given back (`minHold`). */
  readonly minHold: boolean;
}

/** A {@link LockDialect} checked; equal ones are the same object. */
export interface DialectSettings extends DialectAbilities {
  readonly format: DialectFormat;
  /** As messages name it. */
  readonly name: string;
  /** Stand before and after a lock's name in Redis, instead of the module's `keyPrefix`. */
  readonly prefix: string;
  readonly suffix: string;
}

const ABILITIES: Readonly<Record<DialectFormat, DialectAbilities>> = {
  plain: { fencing: true, shared: false, minHold: true },
};

const known = new Map<string, DialectSettings>();

/**
 * What a dialect comes down to; undefined for `'native'`.
 * @throws LockOptionsError when there is no such dialect, or an option of it is wrong.
 */
export function dialectSettings(given: unknown): DialectSettings | undefined {
  if (given === 'native') return undefined;
  const choice = (typeof given === 'string' ? { name: given } : given) as PlainDialect | null;
  if (typeof choice !== 'object' || choice === null || typeof choice.name !== 'string') {
    throw new LockOptionsError(
      'Option "dialect" takes the name of a dialect, or an object with its "name" and options.',
    );
  }
  const settings = plain(choice);
  const text = JSON.stringify(settings);
  if (!known.has(text)) known.set(text, settings);
  return known.get(text);
}

function plain({ name, prefix, ...rest }: PlainDialect): DialectSettings {
  if (!(name in PRESETS)) {
    throw new LockOptionsError(
      `There is no dialect "${name}". Dialects: native, ${Object.keys(PRESETS).join(', ')}.`,
    );
  }
  refuseOthers(name, rest);
  return {
    format: 'plain',
    name,
    prefix: affix('prefix', prefix ?? PRESETS[name]),
    suffix: '',
    ...ABILITIES.plain,
  };
}

function refuseOthers(name: string, rest: object): void {
  const [other] = Object.keys(rest);
  if (other !== undefined) {
    throw new LockOptionsError(`Dialect "${name}" has no option "${other}".`);
  }
}

/** What stands around a name may not decide the cluster slot, nor end what a name begins. */
function affix(option: string, given: unknown): string {
  if (typeof given === 'string' && given.length <= 256 && !/[{}\p{Cc}]/u.test(given)) return given;
  throw new LockOptionsError(
    `Option "${option}" of a dialect takes a string of up to 256 characters without braces.`,
  );
}
