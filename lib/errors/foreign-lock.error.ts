import { LockError } from './lock.error.js';

const LIKELY_OWNER: Record<string, string> = {
  hash: 'a Redisson lock? It can be shared: dialect "redisson"',
  zset: 'a lock of symfony/lock? It can be shared: dialect "symfony"; or a semaphore of another library',
  string: 'a plain lock, as most libraries write? It can be shared: dialect "plain"',
  list: 'a list of the application?',
  set: 'a set of the application?',
  stream: 'a stream of the application?',
};

/** A value of another kind lives at the lock's key; it was left as it is. */
export class ForeignLockError extends LockError {
  readonly code = 'FOREIGN_LOCK';

  constructor(
    key: string,
    /** The Redis type found there, `unknown` when it lies under one of the lock's other keys. */
    readonly type: string,
  ) {
    const owner = LIKELY_OWNER[type];
    super(
      `Redis holds a ${type} at the key of lock "${key}"${owner ? ` (${owner})` : ''}: not a lock of this kind. ` +
        'Choose another key or keyPrefix.',
      { key },
    );
  }
}
