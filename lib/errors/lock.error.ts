const BRAND = Symbol.for('nest-redis-lock.LockError');

/** What every error of this library says about itself. */
export interface LockErrorDetails {
  /** The lock's key as the caller named it, without prefix. */
  readonly key?: string | undefined;
  /** The text of what went wrong underneath; never the original object, which may carry a password. */
  readonly reason?: string | undefined;
}

/** The parent of every error this library throws. `code` is the class name in capitals. */
export abstract class LockError extends Error {
  abstract readonly code: string;
  readonly key?: string;

  constructor(message: string, details: LockErrorDetails = {}) {
    super(details.reason === undefined ? message : `${message} (${details.reason})`);
    this.name = new.target.name;
    if (details.key !== undefined) this.key = details.key;
    Object.defineProperty(this, BRAND, { value: true });
  }
}

/** True for an error of this library, also one thrown by another copy of the package. */
export function isLockError(error: unknown): error is LockError {
  return typeof error === 'object' && error !== null && BRAND in error;
}
