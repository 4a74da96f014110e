import { LockError } from './lock.error.js';

/** The application is shutting down: no lock is given any more. */
export class LockShutdownError extends LockError {
  readonly code = 'LOCK_SHUTDOWN';

  constructor(key?: string) {
    super(
      key === undefined
        ? 'The lock service is shut down.'
        : `Lock "${key}" was not acquired: the application is shutting down.`,
      { key },
    );
  }
}
