import { LockError } from './lock.error.js';

/** A cap of `limits` was reached; refused at once so that the process and Redis stay healthy. */
export class LockLimitError extends LockError {
  readonly code = 'LOCK_LIMIT';

  constructor(key: string, limit: string, cap: number, by?: string) {
    const reached = by === undefined ? 'is reached' : `is reached by ${by}`;
    super(`Lock "${key}" was refused: the limit "${limit}" of ${cap} ${reached}.`, { key });
  }
}
