import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import { SSE_METADATA } from '@nestjs/common/constants.js';
import { ModuleRef } from '@nestjs/core';
import { catchError, defer, from, lastValueFrom, type Observable, throwError } from 'rxjs';
import { LockOptionsError } from '../errors/index.js';
import { lockNames } from '../keys/index.js';
import { callSettings, POLICY_OPTIONS } from '../options/index.js';
import { endOfResponse, responseParameter } from '../services/end-of-stream.js';
import { LockService, lockServiceToken } from '../services/lock.service.js';
import { LockedCall } from '../services/locked-call.js';
import { errorOfHandler } from './message-errors.js';
import { LOCKED_REQUEST_METADATA, type LockedRequestSettings } from './locked-request-settings.js';

/** Which decorators have acted in a call: however often the interceptor is registered, each acts once. */
const acted = new WeakMap<ExecutionContext, Set<LockedRequestSettings>>();

/** Acts for `@LockedRequest`: acquires before a handler's pipes, gives back before the response. */
@Injectable()
export class LockInterceptor implements NestInterceptor {
  constructor(private readonly modules: ModuleRef) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const done = acted.get(context) ?? new Set();
    acted.set(context, done);
    const due = settingsOf(context).filter((settings) => !done.has(settings));
    for (const settings of due) done.add(settings);
    return due
      .reduceRight<CallHandler>(
        (inner, settings) => ({ handle: () => this.#guard(context, settings, inner) }),
        next,
      )
      .handle();
  }

  #guard(
    context: ExecutionContext,
    { keyOf, options }: LockedRequestSettings,
    next: CallHandler,
  ): Observable<unknown> {
    const service = this.#service(options.module);
    const locked = (): Observable<unknown> => {
      const { client, defaults, maxKeyBytes } = LockService.internals(service);
      const settings = callSettings(options, defaults, POLICY_OPTIONS);
      const names = lockNames(keyOf(context), maxKeyBytes);
      const call = new LockedCall(client, names, settings, options, context.getArgs());
      if (isStream(context)) return call.observable(() => next.handle());
      const prototype = context.getClass().prototype as object;
      const response = responseParameter(prototype, context.getHandler().name);
      const work = (): Promise<unknown> =>
        lastValueFrom(next.handle(), { defaultValue: undefined });
      return from(
        response === undefined
          ? call.promise(work)
          : call.promise(work, () => endOfResponse(context.switchToHttp().getResponse())),
      );
    };
    if (context.getType() !== 'rpc') return locked();
    return defer(locked).pipe(
      catchError((error: unknown) =>
        throwError(() => errorOfHandler(service, context.getHandler(), error)),
      ),
    );
  }

  #service(module: string | undefined): LockService {
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

/** The decorators around a handler: the controller's outside, then the handler's, the uppermost first. */
function settingsOf(context: ExecutionContext): LockedRequestSettings[] {
  return [context.getClass(), context.getHandler()].flatMap(
    (target) =>
      (Reflect.getMetadata(LOCKED_REQUEST_METADATA, target) ?? []) as LockedRequestSettings[],
  );
}

/** What emits on and on, instead of one answer. */
function isStream(context: ExecutionContext): boolean {
  const type = context.getType<string>();
  return (
    type === 'rpc' ||
    type === 'ws' ||
    Reflect.getMetadata(SSE_METADATA, context.getHandler()) === true
  );
}
