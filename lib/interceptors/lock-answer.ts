import {
  type LockError,
  LockKeyError,
  LockLimitError,
  LockNotAcquiredError,
  LockShutdownError,
  LockStoreError,
} from '../errors/index.js';

/** What a client is told of an error: never the lock's key, and nothing else that the error knows. */
export interface LockAnswer {
  /** As on HTTP. */
  readonly status: number;
  /** The name of the status. */
  readonly error: string;
  readonly code: string;
  readonly message: string;
  /** After how many seconds it may be worth trying again; undefined: never. */
  readonly retryAfter?: number;
}

export function answerTo(error: LockError): LockAnswer {
  return { ...kindOf(error), code: error.code };
}

/** The body of an HTTP answer, as Nest forms those of its own exceptions. */
export function httpBody({ status, error, code, message }: LockAnswer): object {
  return { statusCode: status, error, code, message };
}

/** What a client of a microservice or a gateway gets. */
export function messageBody({ code, message, retryAfter }: LockAnswer): object {
  return {
    status: 'error',
    code,
    message,
    ...(retryAfter === undefined ? {} : { retryAfter }),
  };
}

function kindOf(error: LockError): Omit<LockAnswer, 'code'> {
  if (error instanceof LockNotAcquiredError) {
    return error.permits === undefined
      ? {
          status: 409,
          error: 'Conflict',
          message: 'Another request is working on this. Try again.',
          retryAfter: 1,
        }
      : {
          status: 429,
          error: 'Too Many Requests',
          message: 'Too many requests are working on this. Try again.',
          retryAfter: 1,
        };
  }
  if (error instanceof LockKeyError) {
    return {
      status: 400,
      error: 'Bad Request',
      message: 'A value of the request is missing or not allowed.',
    };
  }
  if (
    error instanceof LockStoreError ||
    error instanceof LockLimitError ||
    error instanceof LockShutdownError
  ) {
    return {
      status: 503,
      error: 'Service Unavailable',
      message: 'The request cannot be handled safely now. Try again.',
      retryAfter: 1,
    };
  }
  return {
    status: 500,
    error: 'Internal Server Error',
    message: 'The request was not handled safely to its end.',
  };
}
