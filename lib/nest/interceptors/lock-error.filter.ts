import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { throwError } from 'rxjs';
import { LockError } from '../../engine/errors/index.js';
import { underlyingError } from '../../engine/errors/lock.error.js';
import { logger } from '../services/logger.js';
import { answerTo, httpBody, LockGraphqlError, logFailure, messageBody } from './error-response.js';
import { answerSocket, endBegun, setRetryAfter, transportOf } from './transports.js';

/**
 * Answers a request that ended in an error of this library, on HTTP, in GraphQL, over a microservice or a gateway. The answer
 * has the error's code and says what to do, never the lock's key. `mapErrors` makes this the last global filter;
 * `@UseFilters(LockErrorFilter)` puts it where global filters do not reach.
 */
@Catch(LockError)
export class LockErrorFilter implements ExceptionFilter<LockError> {
  readonly #adapters: HttpAdapterHost;

  constructor(adapters: HttpAdapterHost) {
    this.#adapters = adapters;
  }

  catch(thrown: LockError, host: ArgumentsHost): unknown {
    const error = underlyingError(thrown);
    const answer = answerTo(error);
    const { httpAdapter } = this.#adapters;
    const transport = transportOf(host, httpAdapter);
    if (!transport) {
      logger.error(error.message, error.stack);
      throw thrown;
    }
    logFailure(error);
    if (transport === 'graphql') throw new LockGraphqlError(error);
    if (transport === 'rpc') return throwError(() => messageBody(answer));
    if (transport === 'ws') return answerSocket(host.getArgs(), messageBody(answer));
    const response = host.switchToHttp().getResponse<unknown>();
    if (endBegun(httpAdapter, response)) return;
    setRetryAfter(httpAdapter, response, answer);
    return void httpAdapter.reply(response, httpBody(answer), answer.status);
  }
}
