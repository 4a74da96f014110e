import { METHOD_METADATA } from '@nestjs/common/constants.js';
import { catchError, defer } from 'rxjs';
import { LockOptionsError } from '../../engine/errors/index.js';
import { ClientOfRequest } from '../interceptors/client-of-request.js';
import { interceptFirst } from '../interceptors/intercept-first.js';
import { catchMessageErrors, errorOfHandler, isResolver } from '../interceptors/message-errors.js';
import { keyReader, lockNames, nameOfKey } from '../../engine/keys/index.js';
import { type BusyContext, labelOfPlace, type LockedOptions } from '../../engine/options/index.js';
import { CallPlans } from '../services/call-plan.js';
import {
  endOfBody,
  endOfResponse,
  isWebResponse,
  responseParameter,
} from '../services/end-of-stream.js';
import { abortableGenerator } from '../services/abortable-generator.js';
import { LazyResultError, LockedCall } from '../services/locked-call.js';
import type { LockService } from '../services/lock.service.js';
import { addLast } from '../services/metadata.js';
import { argumentNames } from './argument-names.js';
import {
  checkedFor,
  decoratedMethod,
  type Method,
  nameOf,
  wrapMethod,
} from './decorated-method.js';
import { injectService } from './injected-service.js';
import type { Lockable, LockedDecorator, LockedKey } from './locked-types.js';
import { argumentsWith, leaseParameters } from './parameters.js';
import { rememberReturnKind, returnKind } from '../services/return-kind.js';
import { logger } from '../services/logger.js';

/** Metadata for the start-up check: the `CallPlans` of each `@Locked` on a method, innermost first. */
export const LOCKED_METADATA = Symbol('nest-redis-lock:locked');

/**
 * Runs the method under the lock that `key` names, one call at a time over all replicas. The decorator waits for the lock,
 * renews it while the method runs, and releases it before the caller has the result.
 *
 * The key is a template, `'account:<id>'`, with `<argument>`, `<argument.path>` or `<0>`; or a function of the arguments; or
 * several keys: all of those locks are held, or none. It is computed once, before the method runs. The decorator stands on any
 * method of any class that Nest makes, above or below routes, `@Cron` and the like. The method returns a Promise, an Observable
 * (acquired per subscription) or an AsyncIterable (acquired at the first pull). A consumer that leaves while its call waits
 * holds nothing.
 * @example `@Locked('account:<id>', { wait: '5s' }) async withdraw(id: string, amount: number): Promise<void> {}`
 * @throws LockOptionsError where the decorator stands, when the key or an option cannot work. The method rejects with
 * `LockNotAcquiredError`, `LeaseLostError`, `LockStoreError`, `LockKeyError`, `ForeignLockError`, `LockLimitError` or
 * `LockShutdownError`. Only with `onUnavailable: 'proceed'` does it run without the lock instead.
 * @publicApi
 */
export function Locked<Args extends readonly unknown[], Busy = unknown>(
  key: LockedKey<Args>,
  options?: Omit<LockedOptions<Args>, 'onBusy'> & {
    readonly onBusy?: 'throw' | ((context: BusyContext) => Busy) | undefined;
  },
): LockedDecorator<Args, Lockable, Busy>;
// The last overload takes all options, because the compiler's message on a wrong option cites this overload.
export function Locked<Args extends readonly unknown[]>(
  key: LockedKey<Args>,
  options: LockedOptions<Args>,
): LockedDecorator<Args, PromiseLike<unknown>, undefined>;
export function Locked(
  key: LockedKey<never[]>,
  options: LockedOptions = {},
): (target: object, method: string | symbol, descriptor: PropertyDescriptor) => void {
  return (target, method, descriptor) => {
    const methodName = nameOf(target, method);
    const original = decoratedMethod('@Locked', target, method, descriptor);
    const name = options.name ?? nameOfKey(key, methodName);
    const { label = labelOfPlace(methodName) } = options;
    const plans = checkedFor(`@Locked on ${methodName}`, () => new CallPlans(options, name, label));
    const keyOf =
      typeof key === 'function'
        ? (args: readonly unknown[], instance: object) => key.apply(instance, args as never[])
        : keyReader(key, argumentNames(target, method, original));
    const leaseAt = leaseParameters(target, method);
    const response = responseParameter(target, method);
    const { kind, assumed } = options.returns
      ? { kind: options.returns, assumed: false }
      : (returnKind(target, method, original) ?? unknownKind(methodName));
    const serviceOf = injectService(target, options.module, methodName);
    catchMessageErrors(target.constructor);

    function call(service: LockService, instance: object, args: unknown[]): LockedCall {
      const plan = plans.on(service);
      const names = lockNames(keyOf(args, instance), plan.maxKeyBytes);
      const run = (lease: unknown): unknown =>
        original.apply(instance, argumentsWith(args, leaseAt, lease));
      return new LockedCall(plans.labelled(plan, args, instance), names, args, run, instance);
    }

    /** The function that Nest calls and that has its metadata: this wrapper, or one that a decorator above put around it. */
    const handler = (): object => (Reflect.get(target, method) ?? wrapper) as object;

    /** The end of an answer that a route sends by `@Res()` or as a web `Response`. A resolver's `@Context()` has the metadata of `@Res()`. */
    function endOfAnswer(result: unknown, args: readonly unknown[]): Promise<void> | undefined {
      if (response !== undefined && !isResolver(handler())) return endOfResponse(args[response]);
      const isSent = isWebResponse(result) && Reflect.hasMetadata(METHOD_METADATA, handler());
      return isSent ? endOfBody(result) : undefined;
    }

    const wrappers: Record<NonNullable<LockedOptions['returns']>, Method> = {
      async promise(...args) {
        const service = serviceOf(this);
        try {
          return await call(service, this, args).promise(
            (result) => endOfAnswer(result, args),
            methodName,
            options.leaveWithClient ? ClientOfRequest.gone : undefined,
          );
        } catch (error) {
          throw errorOfHandler(service, handler(), error);
        }
      },
      observable(...args) {
        return defer(() => {
          const service = serviceOf(this);
          return defer(() => call(service, this, args).observable()).pipe(
            catchError((error: unknown) => {
              throw errorOfHandler(service, handler(), error);
            }),
          );
        });
      },
      iterable(...args) {
        return abortableGenerator((left) => rows(this, args, left));
      },
    };
    async function* rows(
      instance: object,
      args: unknown[],
      left: AbortSignal,
    ): AsyncGenerator<unknown> {
      const service = serviceOf(instance);
      try {
        yield* call(service, instance, args).iterable(left);
      } catch (error) {
        throw errorOfHandler(service, handler(), error);
      }
    }
    const body = assumed ? heardIfLazy(wrappers[kind]) : wrappers[kind];
    const wrapper = wrapMethod(original as never, body as never);
    if (options.leaveWithClient) interceptFirst(wrapper, ClientOfRequest);
    rememberReturnKind(wrapper, { kind, assumed });
    addLast(LOCKED_METADATA, plans, wrapper);
    descriptor.value = wrapper;
  };
}

function unknownKind(methodName: string): never {
  throw new LockOptionsError(
    `@Locked on ${methodName} cannot tell what the method returns: the compiler left no types. Say it with the option "returns": ` +
      "'promise', 'observable' or 'iterable'; or make the method async; or have the compiler emit types (\"emitDecoratorMetadata\", which esbuild and tsx lack).",
  );
}

/** Logs a LazyResultError: a caller that expects a stream awaits no Promise, and an unhandled rejection would end the process. */
function heardIfLazy(wrapper: Method): Method {
  return function (this: object, ...args) {
    const result = (wrapper.apply(this, args) as Promise<unknown>).catch((error: unknown) => {
      if (error instanceof LazyResultError) result.catch(() => logger.error(error.message));
      throw error;
    });
    return result;
  };
}
