import { Logger } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants.js';
import type { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { LockOptionsError } from '../errors/index.js';
import type { LockedOptions } from '../options/index.js';
import { LOCKED_METADATA } from '../redis-lock.constants.js';
import type { LockedMetadata } from './locked.decorator.js';

/** What marks a method whose caller takes silence for success, by the library that calls it. */
const HANDLER_METADATA = [METHOD_METADATA, 'microservices:pattern', 'websockets:message_mapping'];
const QUEUE_METADATA = ['bullmq:processor_metadata', 'bull:module_queue'];

const logger = new Logger('RedisLock');

/**
 * Looks over every class of the application at start-up for what no decorator can see where it stands.
 * @throws LockOptionsError for `onBusy: 'skip'` where skipped work would count as done, and for a `module` that does not exist.
 */
export function checkLockedMethods(
  discovery: DiscoveryService,
  scanner: MetadataScanner,
  modules: ReadonlySet<string | undefined>,
): void {
  const classes = new Set(
    [...discovery.getProviders(), ...discovery.getControllers()].map(({ metatype }) => metatype),
  );
  for (const type of classes) {
    const prototype =
      typeof type === 'function' ? (type.prototype as object | undefined) : undefined;
    if (!prototype) continue;
    for (const name of scanner.getAllMethodNames(prototype))
      check(type as () => void, prototype, name, modules);
  }
}

function check(
  type: () => void,
  prototype: object,
  name: string,
  modules: ReadonlySet<string | undefined>,
): void {
  const said = `${type.name}.${name}`;
  const method = (prototype as Record<string, unknown>)[name] as () => void;
  const locked = lockedOptions(method);
  if (locked.length === 0) {
    const parent = Object.getPrototypeOf(prototype) as Record<string, unknown> | null;
    if (
      Object.hasOwn(prototype, name) &&
      typeof parent?.[name] === 'function' &&
      lockedOptions(parent[name]).length > 0
    ) {
      logger.warn(
        `${said} overrides a method under @Locked without being so itself: it runs without the lock unless it calls super.`,
      );
    }
    return;
  }
  for (const { module, onBusy } of locked) {
    if (!modules.has(module)) {
      throw new LockOptionsError(
        `@Locked on ${said} names the module "${module}", which is not imported: RedisLockModule.forRoot({ name: '${module}' }).`,
      );
    }
    if (onBusy === 'skip' && isHandler(type, name, method)) {
      throw new LockOptionsError(
        `@Locked on ${said} has onBusy: 'skip', but its caller would take the skipped work for done. Use 'throw', or a function.`,
      );
    }
  }
}

function lockedOptions(method: unknown): readonly LockedOptions[] {
  return (Reflect.getOwnMetadata(LOCKED_METADATA, method as object) ?? []) as LockedMetadata;
}

function isHandler(type: object, name: string, method: object): boolean {
  return (
    HANDLER_METADATA.some((key) => Reflect.hasMetadata(key, method)) ||
    (name === 'process' && QUEUE_METADATA.some((key) => Reflect.hasMetadata(key, type)))
  );
}
