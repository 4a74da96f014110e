import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import {
  LockError,
  LockKeyError,
  LockLimitError,
  LockNotAcquiredError,
  LockShutdownError,
  LockStoreError,
} from '../errors/index.js';

interface Answer {
  readonly status: number;
  readonly error: string;
  readonly message: string;
  readonly retryAfter?: string;
}

const logger = new Logger('RedisLock');

/** Answers an HTTP request that ended in an error of this library: its code, never the lock's key. */
@Catch(LockError)
export class LockErrorFilter implements ExceptionFilter<LockError> {
  constructor(private readonly host: HttpAdapterHost) {}

  catch(error: LockError, host: ArgumentsHost): void {
    if (host.getType() !== 'http') throw error;
    const { status, error: title, message, retryAfter } = answerTo(error);
    if (status >= 500) logger.error(error.message, error.stack);
    const response = host.switchToHttp().getResponse<unknown>();
    const { httpAdapter } = this.host;
    if (httpAdapter.isHeadersSent(response)) return httpAdapter.end(response);
    if (retryAfter) httpAdapter.setHeader(response, 'Retry-After', retryAfter);
    httpAdapter.reply(
      response,
      { statusCode: status, error: title, code: error.code, message },
      status,
    );
  }
}

function answerTo(error: LockError): Answer {
  if (error instanceof LockNotAcquiredError) {
    return {
      status: 409,
      error: 'Conflict',
      message: 'Another request is working on this. Try again.',
      retryAfter: '1',
    };
  }
  if (error instanceof LockKeyError) {
    return {
      status: 400,
      error: 'Bad Request',
      message: 'A value of the request cannot name what it is about.',
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
      retryAfter: '1',
    };
  }
  return {
    status: 500,
    error: 'Internal Server Error',
    message: 'The request was not handled safely to its end.',
  };
}
