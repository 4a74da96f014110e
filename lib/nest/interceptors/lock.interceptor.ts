import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import { SSE_METADATA } from '@nestjs/common/constants.js';
import { ModuleRef, ModulesContainer } from '@nestjs/core';
import { AsyncResource } from 'node:async_hooks';
import { catchError, defer, Observable } from 'rxjs';
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
import { forRoot, lockServiceToken, whyMissing } from '../services/lock-service-token.js';
import { listed } from '../services/metadata.js';
import { AnswerRows } from '../services/answer-rows.js';
import { LockedCall, lazyKind } from '../services/locked-call.js';
import { returnKind } from '../services/return-kind.js';
import { clientGone } from './client-of-request.js';
import { HandlerRun } from './handler-run.js';
import { errorOfHandler } from './message-errors.js';
import { LOCKED_REQUEST_METADATA, type LockedRequestSettings } from './locked-request-settings.js';

/** The metadata of a handler. */
interface Handling {
  /** Each `@LockedRequest` around the handler: those of the controller first, then its own, the uppermost first. */
  readonly decorators: readonly LockedRequestSettings[];
  readonly isSse: boolean;
  readonly declaresObservable: boolean;
  /** The position of `@Res()`, if the handler sends the response by itself. */
  readonly response: number | undefined;
}

/**
 * The metadata by class and handler: a subclass has its own for an inherited handler. The keys are weak, since a controller
 * that binds its handlers makes new ones for each request.
 */
const handlings = new WeakMap<object, WeakMap<object, Handling>>();

/**
 * Locks for `@LockedRequest`, before a handler's pipes run. On HTTP and in GraphQL the lock is released before the response, or
 * at the end of a streamed one. For messages and events the lock is released after the last value.
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
    // The subscriber may run outside of the asynchronous context that an outer interceptor opened.
    return new Observable(AsyncResource.bind((subscriber) => answers.subscribe(subscriber)));
  }

  #guard(
    context: ExecutionContext,
    { isSse, response }: Handling,
    { keyOf, plans }: LockedRequestSettings,
    inner: Observable<unknown>,
    run: HandlerRun,
  ): Observable<unknown> {
    const service = this.#service(plans.options.module);
    const type = context.getType<string>();
    const call = (body: () => unknown): LockedCall => {
      const plan = plans.on(service);
      const names = lockNames(keyOf(context), plan.maxKeyBytes);
      return new LockedCall(plans.labelled(plan, [context]), names, context.getArgs(), body);
    };
    if (isSse || type === 'rpc' || type === 'ws') {
      const locked = defer(() => call(() => inner).observable(run.over));
      if (type !== 'rpc') return locked;
      return locked.pipe(
        catchError((error: unknown) => {
          throw errorOfHandler(service, context.getHandler(), error);
        }),
      );
    }
    const http = type === 'http' ? context.switchToHttp().getResponse<unknown>() : undefined;
    const end = (answer: unknown): Promise<void> | undefined => {
      if (isWebResponse(answer)) return endOfResponse(http)?.then(() => endOfBody(answer));
      return response === undefined ? undefined : endOfResponse(http);
    };
    return new Observable((subscriber) => {
      const left = new AbortController();
      const gone = plans.options.leaveWithClient === false ? undefined : clientGone(http);
      const waits = new AbortController();
      abortWith(waits, left.signal);
      abortWith(waits, gone);
      void call(async () => sentAnswer(await run.last(inner, left.signal, gone), http))
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
    const known = this.#services.get(module);
    if (known) return known;
    try {
      const found = this.#modules.get<LockService>(lockServiceToken(module), { strict: false });
      this.#services.set(module, found);
      return found;
    } catch {
      const why = whyMissing(
        this.#modules.get(ModulesContainer, { strict: false }),
        `no module provides it: import ${forRoot(module)}.`,
      );
      throw new LockOptionsError(`@LockedRequest needs a LockService, and ${why}`);
    }
  }
}

/** Prepares a streamed HTTP answer, which Nest reads after all interceptors are done. */
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
    const name = propertyOf(handler, prototype);
    const method = (Reflect.get(prototype, name) ?? handler) as object;
    handling = {
      decorators: [type, method].flatMap((target) =>
        listed<LockedRequestSettings>(LOCKED_REQUEST_METADATA, target),
      ),
      isSse: Reflect.getMetadata(SSE_METADATA, handler) === true,
      declaresObservable: returnKind(prototype, name, method as never)?.kind === 'observable',
      response: responseParameter(prototype, name),
    };
    handlings.set(type, known.set(handler, handling));
  }
  return handling;
}

/**
 * Returns the property that holds a handler: a wrapper by another decorator may have another name or none. A handler that was
 * bound is held by its object, and has the name of its method.
 */
function propertyOf(handler: { name: string }, prototype: object | null): string | symbol {
  if (!prototype) return handler.name.replace(/^bound /, '');
  const property = Reflect.ownKeys(prototype).find(
    (key) => Object.getOwnPropertyDescriptor(prototype, key)!.value === handler,
  );
  return property ?? propertyOf(handler, Object.getPrototypeOf(prototype) as object | null);
}
