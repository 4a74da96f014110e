import { LockKeyError } from '../errors/index.js';

/** ASCII without braces and control characters: nearly every key, checked in one step. */
const PLAIN = /^[ -z|~]+$/;
/** The most bytes that a unit of a string takes in UTF-8. */
const MOST_BYTES = 3;
/** The ends of a lock's other keys. With a hash tag they begin as the lock's name does, so another name could equal one. */
const RESERVED = /:(?:queue|seen|fence|version|holders|grant|cond(?::.*)?)$/;

/**
 * Checks the name of a lock, and returns it. Without `maxBytes`, while the module is not known, no length is too long.
 * @throws LockKeyError if it is empty, too long, not well-formed, or would not keep the lock's keys in one cluster slot.
 */
export function lockName(key: unknown, maxBytes = Infinity): string {
  if (typeof key !== 'string') {
    throw new LockKeyError(`A lock's key is a string, not ${describe(key)}.`);
  }
  if (key === '') throw new LockKeyError('A lock’s key is empty.');
  if (key.length * MOST_BYTES > maxBytes && Buffer.byteLength(key) > maxBytes) {
    throw new LockKeyError(
      `A lock's key is longer than ${maxBytes} bytes (option "limits.keyBytes").`,
    );
  }
  if (!PLAIN.test(key)) checkUnusual(key);
  return key;
}

function checkUnusual(key: string): void {
  if (!key.isWellFormed()) throw new LockKeyError('A lock’s key has half a surrogate pair in it.');
  if (/\p{Cc}/u.test(key))
    throw new LockKeyError(
      'A lock’s key has a control character in it; encode it, or use lockKey`…`.',
    );
  if (key.includes('{') && RESERVED.test(key)) {
    throw new LockKeyError(
      'A lock’s key with a {hash tag} ends in a suffix that its own Redis keys use (":queue", ":seen", ":fence", …).',
    );
  }
  if (/[{}]/.test(key) && !/^[^{}]*\{[^{}]+\}[^{}]*$/.test(key)) {
    throw new LockKeyError(
      'A lock’s key may have one {hash tag} with something in it, and no other brace; encode them, or use lockKey`…`.',
    );
  }
}

/** The most locks that one lease holds. */
const MOST = 100;

/**
 * Checks the name of a lock, or of several: each once, in one order for all processes.
 * @throws LockKeyError as {@link lockName}, or if there is none, or more than 100.
 */
export function lockNames(
  key: string | readonly string[],
  maxBytes: number,
): string | readonly string[] {
  if (!Array.isArray(key)) return lockName(key, maxBytes);
  const names = [...new Set(Array.from(key, (each) => lockName(each, maxBytes)))].sort();
  if (names.length === 0) throw new LockKeyError('A lock needs a key: the list of keys is empty.');
  if (names.length > MOST) {
    throw new LockKeyError(`One lease holds up to ${MOST} locks, not ${names.length}.`);
  }
  return names.length === 1 ? names[0]! : names;
}

/** Describes a value for messages, without the text of a string or the content of an object. */
export function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (value === '') return 'an empty string';
  if (typeof value === 'number') return String(value);
  return typeof value === 'object' ? 'an object' : typeof value;
}
