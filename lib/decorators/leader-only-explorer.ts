import type { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { LockOptionsError } from '../errors/index.js';
import { bareDuration } from '../options/index.js';
import { LEADER_ONLY_METADATA } from '../redis-lock.constants.js';
import { checkModule, classesOf, isHandler, isProcessor } from './classes-of-application.js';
import type { LeaderOnlyMetadata } from './leader-only.decorator.js';
import { logger } from '../services/logger.js';

/**
 * Every `@LeaderOnly` of the application that names the module `own`, so that this replica can campaign before its first call.
 * @throws LockOptionsError on routes and queue processors, and for a `module` that does not exist.
 */
export function leaderOnlyMethods(
  discovery: DiscoveryService,
  scanner: MetadataScanner,
  modules: ReadonlySet<string | undefined>,
  own: string | undefined,
): LeaderOnlyMetadata {
  const found: LeaderOnlyMetadata[number][] = [];
  for (const { type, prototype, names } of classesOf(discovery, scanner)) {
    for (const name of names) {
      const method = (prototype as Record<string, object>)[name]!;
      const metadata = (Reflect.getOwnMetadata(LEADER_ONLY_METADATA, method) ??
        []) as LeaderOnlyMetadata;
      const said = `@LeaderOnly on ${type.name}.${name}`;
      for (const { module } of metadata) checkModule(said, module, modules);
      if (metadata.length > 0 && (isHandler(method) || isProcessor(type, name, method))) {
        throw new LockOptionsError(
          `${said} cannot work: replicas that do not lead would skip the call, and its caller would take it for done.`,
        );
      }
      for (const each of metadata.filter(({ module }) => module === own)) {
        const bare = bareDuration(each);
        if (bare) logger.warn(`${said} ${bare}`);
        found.push(each);
      }
    }
  }
  return found;
}
