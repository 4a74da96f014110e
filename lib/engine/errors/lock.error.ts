/** The property that marks this library's errors. On such an error its value is true; on an exception that stands for one, it is the error. */
const BRAND = Symbol.for('nest-redis-lock.LockError');

const isInstance = Function.prototype[Symbol.hasInstance] as (
  this: unknown,
  value: unknown,
) => boolean;

/** The fields of this library's errors beside their messages. */
export interface LockErrorDetails {
  /** The lock's key as the caller named it, without prefix. */
  readonly key?: string | undefined;
  /** The error of this library underneath. An error of a client is never kept: it may carry a password. */
  readonly cause?: LockError | undefined;
}

/** The parent of every error this library throws. `code` is the class name in capitals. */
export abstract class LockError extends Error {
  abstract readonly code: string;
  readonly key?: string;

  constructor(message: string, details: LockErrorDetails = {}) {
    const { key, cause } = details;
    super(message, cause && { cause });
    this.name = new.target.name;
    if (key !== undefined) this.key = key;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** True also for an HTTP exception that stands for an error of this class: so `@Catch(LockError)` of Nest catches it. @internal */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return (
      isLockError(value) &&
      (isInstance.call(this, value) || isInstance.call(this, underlyingError(value)))
    );
  }
}

/** True for an error of this library, also one thrown by another copy of the package. */
export function isLockError(error: unknown): error is LockError {
  return typeof error === 'object' && error !== null && BRAND in error;
}

/**
 * Makes `exception` stand for `error`: an instance of the same classes of this library, with the same fields, and with
 * the error as its `cause`, all hidden from JSON. Its message stays its own.
 */
export function standFor<Exception extends Error>(
  exception: Exception,
  error: LockError,
): Exception {
  for (const [name, value] of [...Object.entries(error), ['cause', error] as const]) {
    Object.defineProperty(exception, name, { value, enumerable: false, configurable: true });
  }
  return Object.defineProperty(exception, BRAND, { value: error });
}

/** The error itself, also if `error` is an exception that stands for it. */
export function underlyingError(error: LockError): LockError {
  const brand = (error as { [BRAND]?: unknown })[BRAND];
  return typeof brand === 'object' ? (brand as LockError) : error;
}
