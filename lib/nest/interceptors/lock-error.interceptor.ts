import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import { type ApplicationConfig, HttpAdapterHost } from '@nestjs/core';
import { catchError, EMPTY, map, type Observable, throwError } from 'rxjs';
import { LockError } from '../../engine/errors/index.js';
import { underlyingError } from '../../engine/errors/lock.error.js';
import { AnswerRows, withFirstError } from '../services/answer-rows.js';
import { SENDS_STREAMS } from '../services/end-of-stream.js';
import { lazyKind } from '../services/locked-call.js';
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
    const answers = next
      .handle()
      .pipe(catchError((error: unknown) => this.#failed(context, error)));
    if (!SENDS_STREAMS || this.#transport(context) !== 'http') return answers;
    // Nest asks for the first row behind all interceptors.
    const exceptionOf = (error: unknown): unknown => this.#exceptionOf(context, error);
    return answers.pipe(
      map((answer) => (isRows(answer) ? withFirstError(answer, exceptionOf) : answer)),
    );
  }

  #failed(context: ExecutionContext, error: unknown): Observable<never> {
    const exception = this.#exceptionOf(context, error);
    const isOfSocket = context.getType() === 'ws' && exception instanceof LockHttpException;
    if (!isOfSocket || isCaughtAtGateway(context, exception)) return throwError(() => exception);
    answerSocket(context.getArgs(), messageBody(answerTo(underlyingError(error as LockError))));
    return EMPTY;
  }

  /** Returns what the filters of the application see of an error. */
  #exceptionOf(context: ExecutionContext, thrown: unknown): unknown {
    if (!(thrown instanceof LockError)) return thrown;
    const error = underlyingError(thrown);
    const transport = this.#transport(context);
    if (!transport) return error;
    logFailure(error, transport === 'rpc' && isEventHandler(context.getHandler()));
    if (transport === 'graphql') return new LockGraphqlError(error);
    if (transport === 'http') {
      const response = context.switchToHttp().getResponse<unknown>();
      setRetryAfter(this.#adapters.httpAdapter, response, answerTo(error));
    }
    return new LockHttpException(error);
  }

  #transport(context: ExecutionContext): ReturnType<typeof transportOf> {
    return transportOf(context, this.#adapters.httpAdapter);
  }
}

/** True for what Nest sends row by row. It awaits a query that is a thenable too, and knows other streams by their methods. */
function isRows(answer: unknown): answer is AsyncIterable<unknown> {
  if (answer instanceof AnswerRows) return true;
  return lazyKind(answer) === 'iterable' && !('then' in (answer as object));
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
