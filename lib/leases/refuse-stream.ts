import { LockOptionsError } from '../errors/index.js';

/**
 * The result of a body that ran under a lock.
 * @throws LockOptionsError if it is a stream: that would go on after the lock is given back.
 */
export function refuseStream<T>(result: T, key: string): T {
  const isStream =
    typeof result === 'object' &&
    result !== null &&
    (Symbol.asyncIterator in result || 'subscribe' in result);
  if (!isStream) return result;
  throw new LockOptionsError(
    `The body under lock "${key}" returned a stream, which would run unlocked: consume it inside, or use @Locked.`,
  );
}
