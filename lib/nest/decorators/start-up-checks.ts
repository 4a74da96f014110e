import { METHOD_METADATA } from '@nestjs/common/constants.js';
import type { DiscoveryService, MetadataScanner } from '@nestjs/core';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import { LockOptionsError } from '../../engine/errors/index.js';
import {
  LOCKED_REQUEST_METADATA,
  type LockedRequestSettings,
} from '../interceptors/locked-request-settings.js';
import { isResolver } from '../interceptors/message-errors.js';
import { bareDuration, type LockedOptions } from '../../engine/options/index.js';
import type { CallPlans } from '../services/call-plan.js';
import { LockService } from '../services/lock.service.js';
import { forRoot } from '../services/lock-service-token.js';
import { logger } from '../services/logger.js';
import { listed } from '../services/metadata.js';
import { LEADER_ONLY_METADATA, type LeaderOnlyMetadata } from './leader-only.decorator.js';
import { checkedFor } from './decorated-method.js';
import { LOCKED_METADATA } from './locked.decorator.js';

/** Metadata keys of methods that answer requests, one for each library that calls them. */
const HANDLER_METADATA = [
  METHOD_METADATA,
  'microservices:pattern',
  'websockets:message_mapping',
  'graphql:resolver_type',
];
/** Metadata keys of a class whose `process` works through a queue, and of a method that does. */
const PROCESSOR_METADATA = 'bullmq:processor_metadata';
const PROCESS_METADATA = 'bull:module_queue_process';

/** Decorators that an override does not inherit, and how it then runs. A call of `super` brings back no `@LockedRequest`, which is an interceptor. */
const NOT_INHERITED = [
  ['@Locked', LOCKED_METADATA, 'without the lock unless it calls super'],
  ['@LeaderOnly', LEADER_ONLY_METADATA, 'on every replica unless it calls super'],
  ['@LockedRequest', LOCKED_REQUEST_METADATA, 'without the lock'],
] as const;

type Method = () => void;
type Prototype = Readonly<Record<string, Method>>;

/** A class whose objects Nest makes or is given, and its methods, inherited ones too. */
interface ClassOfApplication {
  readonly type: Method;
  readonly prototype: Prototype;
  readonly names: readonly string[];
}

/**
 * Checks every class of the application at start-up for faults that no decorator can see where it stands.
 * @throws LockOptionsError for `onBusy: 'skip'` and `@LeaderOnly` where skipped work would count as done; for `@LockedRequest`
 * on a method without requests; for a `module` that does not exist; for options that contradict the module's.
 * @returns every `@LeaderOnly`, so that this replica can campaign before its first call
 */
export function checkDecorators(
  discovery: DiscoveryService,
  scanner: MetadataScanner,
  services: ReadonlyMap<string | undefined, LockService>,
): LeaderOnlyMetadata[] {
  const leaders: LeaderOnlyMetadata[] = [];
  /** Methods of earlier classes: an inherited method is warned of once. */
  const seen = new Set<Method>();
  const check = (
    owner: string,
    method: Method,
    options: Omit<LockedOptions, 'onBusy'>,
    plans?: CallPlans,
  ): void => {
    const bare = bareDuration(options);
    if (bare && !seen.has(method)) logger.warn(`${owner} ${bare}`);
    const service = serviceOf(owner, options.module, services);
    if (LockService.isGenuine(service)) checkedFor(owner, () => plans?.on(service));
  };
  for (const { type, prototype, names } of classesOf(discovery, scanner)) {
    const methods = names.map((name) => prototype[name]!);
    for (const name of names) {
      const method = prototype[name]!;
      const methodName = `${type.name}.${name}`;
      const countsAsDone =
        isHandler(method) || isResolver(method) || isProcessor(type, name, method);
      warnOfOverride(methodName, prototype, name);
      for (const plans of listed<CallPlans>(LOCKED_METADATA, method)) {
        const { options } = plans;
        check(`@Locked on ${methodName}`, method, options, plans);
        if (options.leaveWithClient && !Reflect.hasMetadata(METHOD_METADATA, method)) {
          throw new LockOptionsError(
            `@Locked on ${methodName} has "leaveWithClient", but no HTTP request waits there: it stands on routes.`,
          );
        }
        if (countsAsDone && options.onBusy === 'skip') {
          throw new LockOptionsError(
            `@Locked on ${methodName} has onBusy: 'skip', but its caller would take the skipped work for done. Use 'throw', or a function.`,
          );
        }
      }
      for (const options of listed<LeaderOnlyMetadata>(LEADER_ONLY_METADATA, method)) {
        check(`@LeaderOnly on ${methodName}`, method, options);
        if (countsAsDone) {
          throw new LockOptionsError(
            `@LeaderOnly on ${methodName} cannot work: replicas that do not lead would skip the call, and its caller would take it for done.`,
          );
        }
        leaders.push(options);
      }
    }
    for (const bearer of [type, ...methods]) {
      const settings = listed<LockedRequestSettings>(LOCKED_REQUEST_METADATA, bearer);
      const owner = `@LockedRequest on ${bearer === type ? type.name : `${type.name}.${bearer.name}`}`;
      if (settings.length > 0 && !(bearer === type ? methods : [bearer]).some(isHandler)) {
        throw new LockOptionsError(
          `${owner} locks nothing: it stands on handlers of requests and on their controllers. Use @Locked.`,
        );
      }
      for (const { plans } of settings) check(owner, bearer, plans.options, plans);
    }
    for (const method of methods) seen.add(method);
  }
  return leaders;
}

/** Yields every class of the application once. */
function* classesOf(
  discovery: DiscoveryService,
  scanner: MetadataScanner,
): Generator<ClassOfApplication> {
  const prototypes = new Set(
    [...discovery.getProviders(), ...discovery.getControllers()].map(prototypeOf),
  );
  for (const prototype of prototypes) {
    const type: unknown = prototype?.constructor;
    if (!prototype || typeof type !== 'function') continue;
    yield { type: type as Method, prototype, names: scanner.getAllMethodNames(prototype) };
  }
}

/** Returns the prototype with a provider's methods; for `useFactory` and `useValue`, that of the object. */
function prototypeOf(wrapper: InstanceWrapper): Prototype | null | undefined {
  if (!wrapper.isNotMetatype) return (wrapper.metatype as Method).prototype as Prototype;
  const instance: unknown = wrapper.isDependencyTreeStatic() ? wrapper.instance : undefined;
  if (typeof instance !== 'object' || instance === null) return undefined;
  return Object.getPrototypeOf(instance) as Prototype | null; // a Proxy may refuse to say its "constructor"
}

function warnOfOverride(methodName: string, prototype: Prototype, name: string): void {
  const parent = Object.getPrototypeOf(prototype) as Record<string, unknown> | null;
  const beneath = parent?.[name];
  if (!Object.hasOwn(prototype, name) || typeof beneath !== 'function') return;
  const bearers = [prototype[name]!, prototype.constructor];
  for (const [decorator, key, runs] of NOT_INHERITED) {
    if (!Reflect.hasMetadata(key, beneath)) continue;
    if (bearers.some((bearer) => Reflect.hasOwnMetadata(key, bearer))) continue;
    logger.warn(
      `${methodName} overrides a method under ${decorator} without being so itself: it runs ${runs}.`,
    );
  }
}

/** True for a method that answers requests: a skipped call would be answered. */
function isHandler(method: object): boolean {
  return HANDLER_METADATA.some((key) => Reflect.hasMetadata(key, method));
}

/** True for a method that works through a queue: a skipped job would be acknowledged. */
function isProcessor(type: object, name: string, method: object): boolean {
  return (
    (name === 'process' && Reflect.hasMetadata(PROCESSOR_METADATA, type)) ||
    Reflect.hasMetadata(PROCESS_METADATA, method)
  );
}

/** @throws LockOptionsError if there is no RedisLockModule of that name. */
function serviceOf(
  owner: string,
  module: string | undefined,
  services: ReadonlyMap<string | undefined, LockService>,
): LockService {
  const service = services.get(module);
  if (service) return service;
  throw new LockOptionsError(
    module === undefined
      ? `${owner} names no module, but every RedisLockModule has a name: say which with "module".`
      : `${owner} names the module "${module}", which is not imported: ${forRoot(module)}.`,
  );
}
