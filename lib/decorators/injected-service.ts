import { Inject, Optional } from '@nestjs/common';
import { LockOptionsError } from '../errors/index.js';
import { lockServiceToken } from '../services/lock-service-token.js';
import type { LockService } from '../services/lock.service.js';

interface Slot {
  readonly property: symbol;
  readonly services: WeakMap<object, LockService>;
}

/** One property a module name; what Nest puts into it stays out of the instance's own keys and JSON. */
const slots = new Map<string | undefined, Slot>();

/**
 * Has Nest inject the `LockService` of `module` into every instance of the class: any scope, inherited
 * or not, and each application its own.
 */
export function injectService(prototype: object, module: string | undefined): void {
  const { property, services } = slotOf(module);
  if (property in prototype) return;
  Object.defineProperty(prototype, property, {
    configurable: true,
    get(this: object) {
      return services.get(this);
    },
    set(this: object, service: LockService) {
      services.set(this, service);
    },
  });
  Inject(lockServiceToken(module))(prototype, property);
  Optional()(prototype, property);
}

/** @throws LockOptionsError if Nest did not make the instance, or knows no such module. */
export function injectedService(
  instance: unknown,
  module: string | undefined,
  said: string,
): LockService {
  const service =
    typeof instance === 'object' && instance !== null
      ? slotOf(module).services.get(instance)
      : undefined;
  if (service) return service;
  throw new LockOptionsError(
    `${said} did not run: its object has no LockService. Import RedisLockModule.forRoot(${module === undefined ? '' : `{ name: '${module}' }`}) ` +
      'and let Nest make the object: a class among the providers or controllers, not `new` and not useFactory.',
  );
}

function slotOf(module: string | undefined): Slot {
  let slot = slots.get(module);
  if (!slot) {
    slot = { property: Symbol(`nest-redis-lock:service:${module ?? ''}`), services: new WeakMap() };
    slots.set(module, slot);
  }
  return slot;
}
