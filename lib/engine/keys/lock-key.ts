import { LockKeyError, LockOptionsError } from '../errors/index.js';
import { keyLabels } from '../events/index.js';
import { describe } from './lock-name.js';

/**
 * Makes a key from a template: ``lockKey`account:${id}` ``. The values are checked and encoded as in the templates of
 * `@Locked`: no value can reach into another's place. Two values need a `:` between them, which no encoded value contains.
 * @throws LockKeyError naming the value by its position, never showing it; LockOptionsError for two values without a `:`
 * between them.
 */
export function lockKey(text: TemplateStringsArray, ...values: readonly LockKeyValue[]): string {
  const adjacent = text.findIndex((part, at) => at > 0 && at < values.length && !separates(part));
  if (adjacent > 0) {
    throw new LockOptionsError(
      `Value ${adjacent} of a lock's key runs into the next one: write ":" between them.`,
    );
  }
  const key = text.reduce(
    (begun, part, at) => begun + encodeValue(values[at - 1], `Value ${at} of a lock's key`) + part,
  );
  keyLabels.note(key, text);
  return key;
}

/** A value that may be put into a key. */
export type LockKeyValue = string | number | bigint | boolean;

/** The characters that would give a key a second meaning: the separator, the escape, hash tags, control characters. */
const SPECIAL = /[%:{}\p{Cc}]/gu;

/** Whether the text between two values keeps them apart: one of its characters is in no encoded value. */
export function separates(text: string): boolean {
  return /[:{}]/.test(text);
}

/** ASCII with nothing special in it: nearly every text, checked in one step. */
const PLAIN = /^[ -$&-9;-z|~]+$/;

/** The most characters of a value: encoding a text of megabytes would hold the process up before its key is refused. */
const LONGEST_VALUE = 10_000;

/**
 * Encodes a value for a key: special characters are percent-encoded, so that `a:b` + `c` and `a` + `b:c` differ and no
 * request chooses a cluster slot.
 * @param name of the value, for the message
 * @throws LockKeyError for undefined, null, '', NaN, objects, half surrogate pairs and more than 10,000 characters.
 */
export function encodeValue(value: unknown, name: string): string {
  if (typeof value === 'string' && value !== '') {
    if (value.length > LONGEST_VALUE) {
      throw new LockKeyError(`${name} is longer than ${LONGEST_VALUE} characters.`);
    }
    if (PLAIN.test(value)) return value;
    if (!value.isWellFormed()) throw new LockKeyError(`${name} has half a surrogate pair in it.`);
    return value.replace(SPECIAL, encodeURIComponent);
  }
  if (typeof value === 'bigint' || typeof value === 'boolean' || Number.isFinite(value))
    return String(value);
  throw new LockKeyError(
    `${name} is ${describe(value)}; a key takes a non-empty string, a finite number, a bigint or a boolean.`,
  );
}
