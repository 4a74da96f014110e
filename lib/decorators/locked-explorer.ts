import type { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { LockOptionsError } from '../errors/index.js';
import { bareDuration, type LockedOptions } from '../options/index.js';
import type { LockedRequestSettings } from '../interceptors/locked-request-settings.js';
import { LOCKED_METADATA, LOCKED_REQUEST_METADATA } from '../redis-lock.constants.js';
import { checkModule, classesOf, isHandler, isProcessor } from './classes-of-application.js';
import type { LockedMetadata } from './locked.decorator.js';
import { logger } from '../services/logger.js';

/**
 * Looks over every class of the application at start-up for what no decorator can see where it stands.
 * @throws LockOptionsError for `onBusy: 'skip'` where skipped work would count as done, for
 * `@LockedRequest` where no request comes by, and for a `module` that does not exist.
 */
export function checkLockedMethods(
  discovery: DiscoveryService,
  scanner: MetadataScanner,
  modules: ReadonlySet<string | undefined>,
): void {
  const seen = new Set<object>();
  for (const { type, prototype, names } of classesOf(discovery, scanner)) {
    for (const name of names) check(type, prototype, name, modules, seen);
    checkRequests(type, prototype, names, modules);
  }
}

function check(
  type: () => void,
  prototype: object,
  name: string,
  modules: ReadonlySet<string | undefined>,
  /** Methods of classes before: of one that many inherit it is said once how short it waits. */
  seen: Set<object>,
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
  for (const { module, onBusy, wait, ttl } of locked) {
    const bare = bareDuration({ wait, ttl });
    if (bare && !seen.has(method)) logger.warn(`@Locked on ${said} ${bare}`);
    checkModule(`@Locked on ${said}`, module, modules);
    if (onBusy === 'skip' && (isHandler(method) || isProcessor(type, name, method))) {
      throw new LockOptionsError(
        `@Locked on ${said} has onBusy: 'skip', but its caller would take the skipped work for done. Use 'throw', or a function.`,
      );
    }
  }
  seen.add(method);
}

function checkRequests(
  type: () => void,
  prototype: object,
  names: readonly string[],
  modules: ReadonlySet<string | undefined>,
): void {
  const methods = names.map((name) => (prototype as Record<string, () => void>)[name]!);
  for (const bearer of [type, ...methods]) {
    const settings = (Reflect.getMetadata(LOCKED_REQUEST_METADATA, bearer) ??
      []) as LockedRequestSettings[];
    if (settings.length === 0) continue;
    const said = `@LockedRequest on ${bearer === type ? type.name : `${type.name}.${bearer.name}`}`;
    if (!(bearer === type ? methods : [bearer]).some(isHandler)) {
      throw new LockOptionsError(
        `${said} locks nothing: it stands on handlers of requests and on their controllers. Use @Locked.`,
      );
    }
    for (const { options } of settings) {
      const bare = bareDuration(options);
      if (bare) logger.warn(`${said} ${bare}`);
      checkModule(said, options.module, modules);
    }
  }
}

function lockedOptions(method: unknown): readonly LockedOptions[] {
  return (Reflect.getOwnMetadata(LOCKED_METADATA, method as object) ?? []) as LockedMetadata;
}
