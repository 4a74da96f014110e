import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import { SSE_METADATA } from '@nestjs/common/constants.js';
import { ModuleRef } from '@nestjs/core';
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  catchError,
  defer,
  finalize,
  from,
  lastValueFrom,
  type Observable,
  throwError,
} from 'rxjs';
import { LockOptionsError } from '../errors/index.js';
import { lockNames } from '../keys/index.js';
import { endOfResponse, responseParameter } from '../services/end-of-stream.js';
import type { LockService } from '../services/lock.service.js';
import { lockServiceToken } from '../services/lock-service-token.js';
import { LockedCall } from '../services/locked-call.js';
import { errorOfHandler } from './message-errors.js';
import { LOCKED_REQUEST_METADATA, type LockedRequestSettings } from './locked-request-settings.js';

/**
 * One way of a request to its handler, under all of its locks. A request that an interceptor handles again has another
 * one, which needs the locks again; two of them may go on beside each other.
 */
interface Pass {
  /** Undefined when it is over: what a handler leaves running keeps no request. */
  of: ExecutionContext | undefined;
}

/**
 * The pass that the running code is inside of: however often the interceptor is registered, each decorator acts once in
 * it. Where the asynchronous context is lost between two registrations, the second acts again: rather that than never.
 */
const inside = new AsyncLocalStorage<Pass>();

/** What the metadata of a handler say. */
interface Handling {
  /** The decorators around it: the controller's outside, then its own, the uppermost first. */
  readonly decorators: readonly LockedRequestSettings[];
  readonly isSse: boolean;
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

  constructor(private readonly modules: ModuleRef) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const handling = handlingOf(context);
    const { decorators } = handling;
    if (decorators.length === 0 || inside.getStore()?.of === context) return next.handle();
    return decorators
      .reduceRight<CallHandler>(
        (inner, settings) => ({ handle: () => this.#guard(context, handling, settings, inner) }),
        { handle: () => pass(context, next) },
      )
      .handle();
  }

  #guard(
    context: ExecutionContext,
    { isSse, response }: Handling,
    { keyOf, module, plans }: LockedRequestSettings,
    next: CallHandler,
  ): Observable<unknown> {
    const service = this.#service(module);
    const type = context.getType<string>();
    const emitsOnAndOn = isSse || type === 'rpc' || type === 'ws';
    const locked = (): Observable<unknown> => {
      const plan = plans.on(service);
      const names = lockNames(keyOf(context), plan.maxKeyBytes);
      const run = emitsOnAndOn
        ? () => next.handle()
        : () => lastValueFrom(next.handle(), { defaultValue: undefined });
      const call = new LockedCall(plan, names, context.getArgs(), run);
      if (emitsOnAndOn) return call.observable();
      return from(
        response === undefined || type !== 'http'
          ? call.promise()
          : call.promise(() => endOfResponse(context.switchToHttp().getResponse())),
      );
    };
    if (type !== 'rpc') return locked();
    return defer(locked).pipe(
      catchError((error: unknown) =>
        throwError(() => errorOfHandler(service, context.getHandler(), error)),
      ),
    );
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
      return this.modules.get<LockService>(lockServiceToken(module), { strict: false });
    } catch {
      const name = module === undefined ? '' : `{ name: '${module}' }`;
      throw new LockOptionsError(
        `@LockedRequest needs RedisLockModule.forRoot(${name}) among the imports.`,
      );
    }
  }
}

function pass(context: ExecutionContext, next: CallHandler): Observable<unknown> {
  const one: Pass = { of: context };
  return inside.run(one, () => next.handle()).pipe(finalize(() => (one.of = undefined)));
}

function handlingOf(context: ExecutionContext): Handling {
  const [type, handler] = [context.getClass(), context.getHandler()];
  const known = handlings.get(type) ?? new WeakMap<object, Handling>();
  let handling = known.get(handler);
  if (!handling) {
    handling = {
      decorators: [type, handler].flatMap(
        (target) =>
          (Reflect.getMetadata(LOCKED_REQUEST_METADATA, target) ?? []) as LockedRequestSettings[],
      ),
      isSse: Reflect.getMetadata(SSE_METADATA, handler) === true,
      response: responseParameter(type.prototype as object, handler.name),
    };
    handlings.set(type, known.set(handler, handling));
  }
  return handling;
}
