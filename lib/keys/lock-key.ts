import { encodeValue } from './encode-value.js';

/**
 * A key from a template: ``lockKey`account:${id}` ``. The values are checked and encoded as in the
 * templates of `@Locked`: no value can reach into another's place.
 * @throws LockKeyError naming the value by its position, never showing it.
 */
export function lockKey(text: TemplateStringsArray, ...values: readonly LockKeyValue[]): string {
  return text.reduce(
    (key, part, at) => key + encodeValue(values[at - 1], `Value ${at} of a lock's key`) + part,
  );
}

/** What may be put into a key. */
export type LockKeyValue = string | number | bigint | boolean;
