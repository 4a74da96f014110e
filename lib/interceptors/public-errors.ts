import { HttpException } from '@nestjs/common';
import { type LockError, standFor } from '../errors/lock.error.js';
import { answerTo, httpBody } from './lock-answer.js';

/**
 * Stands for an error of this library before the filters of an application: an `HttpException` with the right status,
 * and an instance of the error's own classes. Its message may reach a client; the error itself is its `cause`, which no
 * serializer finds: it knows the key.
 */
export class LockHttpException extends HttpException {
  constructor(error: LockError) {
    const answer = answerTo(error);
    super(httpBody(answer), answer.status);
    standFor(this, error);
  }
}

/** The same for GraphQL, whose servers send `message` and `extensions`, and in development the stack. */
export class LockGraphqlError extends Error {
  readonly extensions: Readonly<Record<string, unknown>>;

  constructor(error: LockError) {
    const { status, code, message, retryAfter } = answerTo(error);
    super(message);
    this.extensions = {
      code,
      http: { status },
      ...(retryAfter === undefined ? {} : { retryAfter }),
    };
    standFor(this, error);
    this.stack = `${error.name}: ${message}`;
  }
}
