import { LockKeyError } from '../errors/index.js';

/**
 * The Redis key that remembers the newest token for `key`, without the client's prefix. Both lie in one
 * cluster slot, and no two keys share one.
 * @throws LockKeyError if no name can lie in the key's slot.
 */
export function fenceKey(prefix: string, key: string): string {
  if (typeof key !== 'string' || key === '') {
    throw new LockKeyError('A key that is guarded by fencing tokens is a string, not empty.');
  }
  const whole = prefix + key;
  if (/^[^{]*\{[^}]+\}/.test(whole)) return `${key}{}:fenced-by`;
  if (!whole.includes('}')) return `{${whole}}:fenced-by`;
  throw new LockKeyError(
    'A key that is guarded by fencing tokens has a closing brace without a {hash tag} before it.',
  );
}
