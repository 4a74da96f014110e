import { LockError } from './lock.error.js';

/** Inside a shared lease the same lock was asked for exclusively: two who did that would wait for each other for ever. */
export class LockUpgradeError extends LockError {
  readonly code = 'LOCK_UPGRADE';

  constructor(key: string) {
    super(
      `Lock "${key}" is held in shared mode around this call, which wants it exclusively. ` +
        'Take it exclusively from the start, or give the shared lease back first.',
      { key },
    );
  }
}
