import { METHOD_METADATA } from '@nestjs/common/constants.js';
import type { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { LockOptionsError } from '../errors/index.js';

/** What marks a method that answers requests, by the library that calls it. */
const HANDLER_METADATA = [
  METHOD_METADATA,
  'microservices:pattern',
  'websockets:message_mapping',
  'graphql:resolver_type',
];
/** What marks a class whose `process` works through a queue, and a method that does. */
const PROCESSOR_METADATA = 'bullmq:processor_metadata';
const PROCESS_METADATA = 'bull:module_queue_process';

/** A class that Nest makes, and the names of its methods, inherited ones too. */
export interface ClassOfApplication {
  readonly type: () => void;
  readonly prototype: object;
  readonly names: readonly string[];
}

/** Every class of the application, once. */
export function* classesOf(
  discovery: DiscoveryService,
  scanner: MetadataScanner,
): Generator<ClassOfApplication> {
  const classes = new Set(
    [...discovery.getProviders(), ...discovery.getControllers()].map(({ metatype }) => metatype),
  );
  for (const type of classes) {
    const prototype =
      typeof type === 'function' ? (type.prototype as object | undefined) : undefined;
    if (!prototype) continue;
    yield { type: type as () => void, prototype, names: scanner.getAllMethodNames(prototype) };
  }
}

/** True for a method that answers requests: what it skips would be answered. */
export function isHandler(method: object): boolean {
  return HANDLER_METADATA.some((key) => Reflect.hasMetadata(key, method));
}

/** True for a method that works through a queue: what it skips would be acknowledged. */
export function isProcessor(type: object, name: string, method: object): boolean {
  return (
    (name === 'process' && Reflect.hasMetadata(PROCESSOR_METADATA, type)) ||
    Reflect.hasMetadata(PROCESS_METADATA, method)
  );
}

/** @throws LockOptionsError if there is no RedisLockModule of that name. */
export function checkModule(
  said: string,
  module: string | undefined,
  modules: ReadonlySet<string | undefined>,
): void {
  if (modules.has(module)) return;
  throw new LockOptionsError(
    module === undefined
      ? `${said} names no module, but every RedisLockModule has a name: say which with "module".`
      : `${said} names the module "${module}", which is not imported: RedisLockModule.forRoot({ name: '${module}' }).`,
  );
}
