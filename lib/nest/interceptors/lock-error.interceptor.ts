import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import { type ApplicationConfig, HttpAdapterHost } from '@nestjs/core';
import { catchError, EMPTY, type Observable, throwError } from 'rxjs';
import { LockError } from '../../engine/errors/index.js';
import { underlyingError } from '../../engine/errors/lock.error.js';
import type { LockService } from '../services/lock.service.js';
import {
  answerTo,
  LockGraphqlError,
  LockHttpException,
  logFailure,
  messageBody,
} from './error-response.js';
import { LockErrorFilter } from './lock-error.filter.js';
import {
  answerSocket,
  isCaughtAtGateway,
  isEventHandler,
  setRetryAfter,
  transportOf,
} from './transports.js';

/**
 * The outermost interceptor of an application. It turns each error of this library into an exception that the application's
 * filters can answer and its clients may see. Gateways are answered here, for global filters do not reach them.
 */
@Injectable()
export class LockErrorInterceptor implements NestInterceptor {
  readonly #adapters: HttpAdapterHost;

  constructor(adapters: HttpAdapterHost) {
    this.#adapters = adapters;
  }

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
    const { httpAdapter } = this.#adapters;
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

const answered = new WeakSet<LockService>();

/**
 * Makes the application answer errors of this library on every transport. Called before anything global is registered, so the
 * filter is asked last and the interceptor is outermost.
 */
export function answerErrors(
  config: ApplicationConfig,
  filter: LockErrorFilter,
  interceptor: NestInterceptor,
  service: LockService,
): void {
  answered.add(service);
  if (config.getGlobalFilters().some((other) => other instanceof LockErrorFilter)) return;
  config.useGlobalFilters(filter);
  config.useGlobalInterceptors(interceptor);
}

/** True if the application of this service answers its errors (`mapErrors`). */
export function answersErrors(service: LockService): boolean {
  return answered.has(service);
}
