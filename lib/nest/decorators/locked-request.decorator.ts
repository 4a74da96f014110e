import { type DiscoveryService, MetadataScanner } from '@nestjs/core';
import { LockOptionsError } from '../../engine/errors/index.js';
import { HandlerRun } from '../interceptors/handler-run.js';
import { interceptFirst } from '../interceptors/intercept-first.js';
import { LockInterceptor } from '../interceptors/lock.interceptor.js';
import { catchMessageErrors } from '../interceptors/message-errors.js';
import {
  LOCKED_REQUEST_METADATA,
  type LockedRequestOptions,
  LockedRequestSettings,
  type RequestKey,
} from '../interceptors/locked-request-settings.js';
import { putFirst } from '../services/metadata.js';
import { rememberReturnKind, returnKind } from '../services/return-kind.js';
import { type Method, wrapMethod } from './decorated-method.js';

/**
 * Runs a handler, or every handler of a controller, under a lock whose key comes from the request: `'tenant:<user.tenantId>'`.
 * The roots are `params query body headers user ip` on HTTP, `args user` in GraphQL, `data user` for messages; or the key is a
 * function of the ExecutionContext.
 *
 * The decorator is an interceptor: it acts before pipes, and around the other interceptors of its handler or controller (a
 * transaction), in whatever order they are written. Global interceptors are outside, and the controller's if the decorator
 * stands on a handler.
 *
 * Streams are held to their end. On HTTP and in GraphQL the lock is given back before the response is sent. For messages each
 * value goes out as it is emitted, so a loss that only the release notices comes after it. A client that leaves while its
 * request waits holds nothing.
 * @example `@LockedRequest('tenant:<user.tenantId>', { wait: '5s' }) @Post('orders') create(@Body() order: Order) {}`
 * @throws LockOptionsError where the decorator stands, when the key or an option cannot work.
 * @publicApi
 */
export function LockedRequest(
  key: RequestKey,
  options: LockedRequestOptions = {},
): MethodDecorator & ClassDecorator {
  const settings = new LockedRequestSettings(key, options);
  return (target: object, method?: string | symbol, descriptor?: PropertyDescriptor) => {
    const onHandler = typeof descriptor?.value === 'function' && typeof target === 'object';
    const onController = typeof target === 'function' && method === undefined;
    if (!onHandler && !onController) {
      throw new LockOptionsError('@LockedRequest stands on handlers and on controllers.');
    }
    const bearer = onHandler ? (descriptor.value as object) : target;
    putFirst(LOCKED_REQUEST_METADATA, settings, bearer);
    catchMessageErrors(onHandler ? target.constructor : target);
    interceptFirst(bearer, LockInterceptor);
    if (onHandler) {
      descriptor.value = watched(target, method!, descriptor.value as Method);
    } else {
      watchHandlers((target as { prototype: Record<string, Method> }).prototype);
    }
  };
}

const watchers = new WeakSet<Method>();

/** Wraps a handler, so that the run of its request knows when it is called and when it has returned. */
function watched(prototype: object, name: string | symbol, handler: Method): Method {
  if (watchers.has(handler)) return handler;
  const watcher = wrapMethod(handler, function (...args) {
    return HandlerRun.call(() => handler.apply(this, args));
  });
  watchers.add(watcher);
  const kind = returnKind(prototype, name, handler);
  if (kind) rememberReturnKind(watcher, kind);
  return watcher;
}

/** Wraps all handlers of a controller, inherited ones too: they are the methods with metadata. */
function watchHandlers(controller: Record<string, Method>): void {
  for (const name of new MetadataScanner().getAllMethodNames(controller)) {
    const method = controller[name]!;
    if (Reflect.getOwnMetadataKeys(method).length === 0) continue;
    const value = watched(controller, name, method);
    Object.defineProperty(controller, name, { value, writable: true, configurable: true });
  }
}

/** Watches what subclasses add to a controller under `@LockedRequest`: they inherit its metadata. Nest has read no handler yet. */
export function watchSubclasses(discovery: DiscoveryService): void {
  for (const { metatype } of [...discovery.getProviders(), ...discovery.getControllers()]) {
    if (!metatype || !Reflect.hasMetadata(LOCKED_REQUEST_METADATA, metatype)) continue;
    watchHandlers(metatype.prototype as Record<string, Method>);
  }
}
