import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import { SSE_METADATA } from '@nestjs/common/constants.js';
import { ModuleRef, ModulesContainer } from '@nestjs/core';
import { AsyncResource } from 'node:async_hooks';
import { catchError, defer, Observable, throwError } from 'rxjs';
import { LockOptionsError } from '../../engine/errors/index.js';
import { lockNames } from '../../engine/keys/index.js';
import { abortWith } from '../../engine/options/index.js';
import {
  discard,
  discardUnsent,
  endOfBody,
  endOfResponse,
  isWebResponse,
  responseParameter,
  SENDS_STREAMS,
} from '../services/end-of-stream.js';
import type { LockService } from '../services/lock.service.js';
import { lockServiceToken, whyMissing } from '../services/lock-service-token.js';
import { AnswerRows } from '../services/answer-rows.js';
import { LockedCall, lazyKind } from '../services/locked-call.js';
import { returnKind } from '../services/return-kind.js';
import { clientGone } from './client-of-request.js';
import { HandlerRun } from './handler-run.js';
import { errorOfHandler } from './message-errors.js';
import { LOCKED_REQUEST_METADATA, type LockedRequestSettings } from './locked-request-settings.js';

/** What the metadata of a handler say. */
interface Handling {
  /** The decorators around it: the controller's outside, then its own, the uppermost first. */
  readonly decorators: readonly LockedRequestSettings[];
  readonly isSse: boolean;
  readonly declaresObservable: boolean;
  /** The position of a response that it sends by itself. */
  readonly response: number | undefined;
}

/**
 * Read once for each handler of a class: the class that inherits a handler has metadata of its own. A controller that
 * binds its handlers has others for each request, which nothing may keep.
 */
const handlings = new WeakMap<object, WeakMap<object, Handling>>();

/**
 * Acts for `@LockedRequest`: acquires before a handler's pipes. On HTTP and in GraphQL it gives back before the response,
 * or at the end of one that is a stream; for messages and events, which go out one by one, after the last of them.
 */
@Injectable()
export class LockInterceptor implements NestInterceptor {
  readonly #services = new Map<string | undefined, LockService>();
  readonly #modules: ModuleRef;

  constructor(modules: ModuleRef) {
    this.#modules = modules;
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const handling = handlingOf(context);
    const { decorators } = handling;
    if (decorators.length === 0 || HandlerRun.isInside(context)) return next.handle();
    const run = new HandlerRun(context, handling.declaresObservable);
    const answers = decorators.reduceRight(
      (inner, settings) => this.#guard(context, handling, settings, inner, run),
      run.answers(() => next.handle()),
    );
    // Who subscribes may be outside of the asynchronous context that an interceptor has opened around this one.
    return new Observable(AsyncResource.bind((subscriber) => answers.subscribe(subscriber)));
  }

  #guard(
    context: ExecutionContext,
    { isSse, response }: Handling,
    { keyOf, module, plans, options }: LockedRequestSettings,
    inner: Observable<unknown>,
    run: HandlerRun,
  ): Observable<unknown> {
    const service = this.#service(module);
    const type = context.getType<string>();
    const call = (body: () => unknown): LockedCall => {
      const plan = plans.on(service);
      const names = lockNames(keyOf(context), plan.maxKeyBytes);
      return new LockedCall(plan, names, context.getArgs(), body);
    };
    if (isSse || type === 'rpc' || type === 'ws') {
      const locked = defer(() => call(() => inner).observable(run.over));
      if (type !== 'rpc') return locked;
      return locked.pipe(
        catchError((error: unknown) =>
          throwError(() => errorOfHandler(service, context.getHandler(), error)),
        ),
      );
    }
    const http = type === 'http' ? context.switchToHttp().getResponse<unknown>() : undefined;
    const end = (answer: unknown): Promise<void> | undefined => {
      if (isWebResponse(answer)) return endOfResponse(http)?.then(() => endOfBody(answer));
      return response === undefined ? undefined : endOfResponse(http);
    };
    return new Observable((subscriber) => {
      const left = new AbortController();
      const gone = options.leaveWithClient === false ? undefined : clientGone(http);
      const waits = new AbortController();
      abortWith(waits, left.signal);
      abortWith(waits, gone);
      void call(async () => sentAnswer(await run.last(inner, left.signal), http))
        .promise(end, undefined, waits.signal)
        .then(
          (answer) => {
            if (subscriber.closed) return discard(answer);
            subscriber.next(answer);
            subscriber.complete();
          },
          (error: unknown) => subscriber.error(error),
        );
      return () => left.abort();
    });
  }

  #service(module: string | undefined): LockService {
    let service = this.#services.get(module);
    if (!service) {
      service = this.#find(module);
      this.#services.set(module, service);
    }
    return service;
  }

  #find(module: string | undefined): LockService {
    try {
      return this.#modules.get<LockService>(lockServiceToken(module), { strict: false });
    } catch {
      const name = module === undefined ? '' : `{ name: '${module}' }`;
      const why = whyMissing(
        this.#modules.get(ModulesContainer, { strict: false }),
        `no module provides it: import RedisLockModule.forRoot(${name}).`,
      );
      throw new LockOptionsError(`@LockedRequest needs a LockService, and ${why}`);
    }
  }
}

/** A stream or rows of an HTTP answer, which Nest reads when the interceptors are through. */
function sentAnswer(answer: unknown, response: unknown): unknown {
  discardUnsent(answer, response);
  if (!SENDS_STREAMS || lazyKind(answer) !== 'iterable') return answer;
  const sent = endOfResponse(response);
  return sent ? new AnswerRows(answer as AsyncIterable<unknown>, sent) : answer;
}

function handlingOf(context: ExecutionContext): Handling {
  const [type, handler] = [context.getClass(), context.getHandler()];
  const known = handlings.get(type) ?? new WeakMap<object, Handling>();
  let handling = known.get(handler);
  if (!handling) {
    const prototype = type.prototype as object;
    const name = connectionOptionsOf(handler, prototype);
    handling = {
      decorators: [type, handler].flatMap(
        (target) =>
          (Reflect.getMetadata(LOCKED_REQUEST_METADATA, target) ?? []) as LockedRequestSettings[],
      ),
      isSse: Reflect.getMetadata(SSE_METADATA, handler) === true,
      declaresObservable: returnKind(prototype, name, handler as never)?.kind === 'observable',
      response: responseParameter(prototype, name),
    };
    handlings.set(type, known.set(handler, handling));
  }
  return handling;
}

/** By what a class has its handler: a function around it, of another decorator, may have another name or none. */
function connectionOptionsOf(handler: { name: string }, prototype: object | null): string | symbol {
  if (!prototype) return handler.name;
  const place = Reflect.ownKeys(prototype).find(
    (key) => Object.getOwnPropertyDescriptor(prototype, key)!.value === handler,
  );
  return place ?? connectionOptionsOf(handler, Object.getPrototypeOf(prototype) as object | null);
}
