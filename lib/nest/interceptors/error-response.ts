import { HttpException } from '@nestjs/common';
import { STATUS_CODES } from 'node:http';
import {
  type LockError,
  LockKeyError,
  LockLimitError,
  LockNotAcquiredError,
  LockShutdownError,
  LockStoreError,
} from '../../engine/errors/index.js';
import { standFor } from '../../engine/errors/lock.error.js';
import { logger } from '../services/logger.js';

/** The answer to a client. It never contains the lock's key or other details of the error. */
export interface ErrorResponse {
  /** The HTTP status. */
  readonly status: keyof typeof MESSAGES;
  readonly code: string;
  readonly message: string;
  /** Seconds after which another attempt may succeed. Undefined: never. */
  readonly retryAfter?: number;
}

const MESSAGES = {
  400: 'A value of the request is missing or not allowed.',
  409: 'Another request is working on this. Try again.',
  429: 'Too many requests are working on this. Try again.',
  500: 'The request was not handled safely to its end.',
  503: 'The request cannot be handled safely now. Try again.',
};

export function answerTo(error: LockError): ErrorResponse {
  const status = statusOf(error);
  const passes = status !== 400 && status !== 500;
  const { code } = error;
  return {
    status,
    code,
    message: MESSAGES[status],
    ...(passes && { retryAfter: retryAfter(error) }),
  };
}

/** Seconds until the queue has moved, if that is known; at most 60, since one waiter's long wait may be an exception. */
function retryAfter(error: LockError): number {
  const known = error instanceof LockLimitError ? error.retryAfter : undefined;
  return Math.max(1, Math.min(60, Math.ceil((known ?? 0) / 1_000)));
}

/** The limits of one lock: others may be free. */
const LIMITS_OF_A_LOCK = ['maxWaiting', 'waitersPerKey'];

function statusOf(error: LockError): ErrorResponse['status'] {
  if (error instanceof LockLimitError && LIMITS_OF_A_LOCK.includes(error.limit)) return 429;
  if (error instanceof LockNotAcquiredError) return error.permits === undefined ? 409 : 429;
  if (error instanceof LockKeyError) return 400;
  const passing = [LockStoreError, LockLimitError, LockShutdownError];
  return passing.some((type) => error instanceof type) ? 503 : 500;
}

/** The body of an HTTP answer, in the form of Nest's own exceptions. */
export function httpBody({ status, code, message }: ErrorResponse): object {
  return { statusCode: status, error: STATUS_CODES[status], code, message };
}

/** The answer to a client of a microservice or a gateway. */
export function messageBody({ status: _http, ...told }: ErrorResponse): object {
  return { status: 'error', ...told };
}

/**
 * Stands for an error of this library before the filters of an application. It is an `HttpException` with the right status and
 * an instance of the error's own classes. Its message may reach a client. The error itself knows the key, so it is the `cause`,
 * which no serializer finds.
 */
export class LockHttpException extends HttpException {
  constructor(error: LockError) {
    const answer = answerTo(error);
    super(httpBody(answer), answer.status);
    standFor(this, error);
  }
}

/** As {@link LockHttpException}, for GraphQL: its servers send `message`, `extensions` and, in development, the stack. */
export class LockGraphqlError extends Error {
  readonly extensions: Readonly<Record<string, unknown>>;

  constructor(error: LockError) {
    const { status, message, ...told } = answerTo(error);
    super(message);
    this.extensions = { ...told, http: { status } };
    standFor(this, error);
    this.stack = `${error.name}: ${message}`;
  }
}

const logged = new WeakSet<LockError>();

/**
 * Logs once per error what the answer hides from a developer. That is a failure (status 500 and above), a value that cannot be
 * in a key, or why an event was not handled, which has no answer.
 */
export function logFailure(error: LockError, isEvent = false): void {
  if (logged.has(error)) return;
  logged.add(error);
  if (answerTo(error).status >= 500) logger.error(error.message, error.stack);
  else if (isEvent) logger.warn(`An event was not handled: ${error.message}`);
  else if (error instanceof LockKeyError) logger.warn(`Answered 400: ${error.message}`);
}
