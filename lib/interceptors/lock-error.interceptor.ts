import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { catchError, EMPTY, type Observable, throwError } from 'rxjs';
import { LockError } from '../errors/index.js';
import { underlyingError } from '../errors/lock.error.js';
import { answerSocket, isCaughtAtGateway } from './gateway-answer.js';
import { answerTo, messageBody } from './lock-answer.js';
import { logFailure } from './log-failure.js';
import { isEventHandler } from './message-errors.js';
import { LockGraphqlError, LockHttpException } from './public-errors.js';
import { setRetryAfter } from './retry-after.js';
import { transportOf } from './transport.js';

/**
 * The outermost interceptor of an application: turns each error of this library into what its filters can answer, and
 * its clients may see. A client of a gateway is answered here, for global filters do not reach gateways.
 */
@Injectable()
export class LockErrorInterceptor implements NestInterceptor {
  constructor(private readonly adapters: HttpAdapterHost) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next
      .handle()
      .pipe(
        catchError((error: unknown) =>
          error instanceof LockError
            ? this.#failed(context, underlyingError(error))
            : throwError(() => error),
        ),
      );
  }

  #failed(context: ExecutionContext, error: LockError): Observable<never> {
    const { httpAdapter } = this.adapters;
    const transport = transportOf(context, httpAdapter);
    if (!transport) return throwError(() => error);
    const answer = answerTo(error);
    logFailure(error, transport === 'rpc' && isEventHandler(context.getHandler()));
    if (transport === 'graphql') return throwError(() => new LockGraphqlError(error));
    const exception = new LockHttpException(error);
    if (transport === 'http') {
      setRetryAfter(httpAdapter, context.switchToHttp().getResponse(), answer);
    }
    if (transport === 'ws' && !isCaughtAtGateway(context, exception)) {
      answerSocket(context.getArgs(), messageBody(answer));
      return EMPTY;
    }
    return throwError(() => exception);
  }
}
