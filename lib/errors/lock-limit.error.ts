import { LockError } from './lock.error.js';

/** A cap of `limits` was reached; refused at once so that the process and Redis stay healthy. */
export class LockLimitError extends LockError {
  readonly code = 'LOCK_LIMIT';

  constructor(key: string, limit: string, cap: number) {
    super(`Lock "${key}" was refused: the limit "${limit}" of ${cap} is reached.`, { key });
  }
}
