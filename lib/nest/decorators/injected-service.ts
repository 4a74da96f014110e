import { Inject, Optional } from '@nestjs/common';
import { type LazyModuleLoader, ModulesContainer } from '@nestjs/core';
import { STATIC_CONTEXT } from '@nestjs/core/injector/constants.js';
import { LockOptionsError } from '../../engine/errors/index.js';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import type { LockService } from '../services/lock.service.js';
import {
  forRoot,
  isLockServiceToken,
  isProvided,
  lockServiceToken,
  whyMissing,
} from '../services/lock-service-token.js';

/**
 * Injects the `LockService` of the module with this `name`; without a name, the unnamed module's.
 * @example `constructor(@InjectLockService('billing') private readonly locks: LockService) {}`
 */
export function InjectLockService(module?: string): ParameterDecorator & PropertyDecorator {
  return Inject(lockServiceToken(module));
}

/** The properties by which the objects of a decorated class find one module's `LockService`. */
interface Slot {
  /** The property that holds an object's service. A Proxy, or an object derived by `Object.create`, finds the service there too. */
  readonly service: symbol;
  /** A property that Nest sets after `service`, with or without a service: its setter notices that the module is missing. */
  readonly modules: symbol;
  /** The services of objects that accept no new property. */
  readonly frozen: WeakMap<object, LockService>;
  /** The factories that already supply the objects they make. */
  readonly factories: WeakSet<InstanceWrapper>;
}

type Bearer = Record<symbol, LockService | undefined>;

const slots = new Map<string | undefined, Slot>();

/**
 * Makes Nest inject the `LockService` of `module` into every instance of the class: any scope, inherited or not, and each
 * application its own. The property stays out of the instance's enumerable keys and its JSON.
 * @returns a function that finds an instance's service; it throws LockOptionsError if Nest did not make the instance, or knows
 * no such module
 * @param methodName the decorated method, for messages
 */
export function injectService(
  prototype: object,
  module: string | undefined,
  methodName: string,
): (instance: unknown) => LockService {
  const slot = slotOf(module);
  if (!(slot.service in prototype)) openSlot(prototype, slot, module, methodName);
  return (instance) => {
    const found =
      typeof instance === 'object' && instance !== null
        ? (instance as Bearer)[slot.service]
        : undefined;
    if (found) return found;
    throw new LockOptionsError(
      `${methodName} did not run: its object has no LockService. Import ${forRoot(module)}, and let Nest make the object: ` +
        'a provider or a controller, not `new`. A constructor runs too early for it: use onModuleInit. ' +
        'In a test of an object from useFactory or useValue, call init() after compile().',
    );
  };
}

function openSlot(
  prototype: object,
  { service, modules, frozen }: Slot,
  module: string | undefined,
  methodName: string,
): void {
  Object.defineProperty(prototype, service, {
    get(this: object) {
      return frozen.get(this);
    },
    set(this: object, value: LockService) {
      if (!Object.isExtensible(this)) frozen.set(this, value);
      else Object.defineProperty(this, service, { value, configurable: true, writable: true });
    },
  });
  Object.defineProperty(prototype, modules, {
    set(this: Bearer, container: ModulesContainer) {
      // A module of any name is enough here: the start-up check compares the names.
      if (this[service] || isProvided(container, isLockServiceToken)) return;
      const why = whyMissing(
        container,
        `no module provides it: import ${forRoot(module)}; in a test LockTestingModule.forRoot() from "nest-redis-lock/testing".`,
      );
      throw new LockOptionsError(
        `@Locked or @LeaderOnly on ${methodName} needs a LockService, and ${why}`,
      );
    },
  });
  Inject(lockServiceToken(module))(prototype, service);
  Optional()(prototype, service);
  Inject(ModulesContainer)(prototype, modules);
}

/**
 * Supplies the `LockService` of `module` to objects of an application that have none. Objects of `useFactory` and `useValue`
 * get it here, even if an earlier application gave them another.
 * @throws LockOptionsError for an object of a module that cannot see the service.
 */
export function supplyService(
  modules: ModulesContainer,
  module: string | undefined,
  locks: LockService,
): void {
  const slot = slotOf(module);
  const { service } = slot;
  for (const { metatype, providers, controllers, injectables } of modules.values()) {
    for (const wrapper of [providers, controllers, injectables].flatMap((map) => [
      ...map.values(),
    ])) {
      if (wrapper.isTransient || !wrapper.isDependencyTreeStatic()) {
        supplyFactory(wrapper, slot, locks);
        continue;
      }
      const { isResolved, instance: made } = wrapper.getInstanceByContextId(STATIC_CONTEXT);
      const instance = made as Bearer | null | undefined;
      if (!isResolved) continue; // a lazy load under way supplies this object
      if (typeof instance !== 'object' || instance === null) continue;
      if (!(service in instance) || instance[service] === locks) continue;
      if (wrapper.isNotMetatype) instance[service] = locks;
      else if (!instance[service]) {
        throw new LockOptionsError(
          `${wrapper.name} has methods under @Locked or @LeaderOnly, but ${metatype.name} does not import the RedisLockModule that it names. Import it there, or leave out "isGlobal: false".`,
        );
      }
    }
  }
}

/** Calls `supply` after each load of a lazy module: Nest calls no hook for its objects. */
export function afterLoads(loader: LazyModuleLoader, supply: () => void): void {
  const load = loader.load.bind(loader);
  loader.load = async (...module) => {
    const loaded = await load(...module);
    supply();
    return loaded;
  };
}

/** Wraps a factory that Nest calls repeatedly: each object it makes, or has made before, gets the service. */
function supplyFactory(
  wrapper: InstanceWrapper,
  { service, factories }: Slot,
  locks: LockService,
): void {
  if (!wrapper.isFactory || factories.has(wrapper)) return;
  factories.add(wrapper);
  const supplied = (made: unknown): unknown => {
    if (typeof made === 'object' && made !== null && service in made) {
      (made as Bearer)[service] = locks;
    }
    return made;
  };
  const factory = wrapper.metatype as (...dependencies: unknown[]) => unknown;
  wrapper.metatype = async (...dependencies: unknown[]) => supplied(await factory(...dependencies));
  for (const made of wrapper.getStaticTransientInstances()) supplied(made?.instance);
}

function slotOf(module: string | undefined): Slot {
  let slot = slots.get(module);
  if (!slot) {
    const name = `nest-redis-lock:${module ?? ''}`;
    slot = {
      service: Symbol(name),
      modules: Symbol(`${name}:modules`),
      frozen: new WeakMap(),
      factories: new WeakSet(),
    };
    slots.set(module, slot);
  }
  return slot;
}
