import type { ModulesContainer } from '@nestjs/core';
import { LockService } from './lock.service.js';

/** Marks the `LockService` class of each copy of this package. */
const BRAND = Symbol.for('nest-redis-lock.LockService');
Object.defineProperty(LockService, BRAND, { value: true });

/**
 * The injection token of a module's `LockService`: the class, or a string for a named module.
 * @example `Test.createTestingModule({ imports: [AppModule] }).overrideProvider(lockServiceToken('billing')).useValue(locks)`
 */
export function lockServiceToken(module?: string): typeof LockService | string {
  return module === undefined ? LockService : `LockService:${module}`;
}

/** The import of a module, as messages show it. */
export function forRoot(module: string | undefined): string {
  return `RedisLockModule.forRoot(${module === undefined ? '' : `{ name: '${module}' }`})`;
}

/** True for the token of any module's `LockService`. */
export function isLockServiceToken(token: unknown): boolean {
  return token === LockService || (typeof token === 'string' && token.startsWith('LockService:'));
}

/** True if a module of the application provides a token that `isWanted` accepts. */
export function isProvided(
  modules: ModulesContainer,
  isWanted: (token: unknown) => boolean,
): boolean {
  return [...modules.values()].some(({ providers }) => [...providers.keys()].some(isWanted));
}

/** Explains why this copy of the package has no `LockService`; `otherwise` is the answer if no other copy provides one. */
export function whyMissing(modules: ModulesContainer, otherwise: string): string {
  if (!isProvided(modules, (token) => Object.hasOwn(Object(token), BRAND))) return otherwise;
  return 'another copy of nest-redis-lock provides it. All must load one copy: "npm ls nest-redis-lock" shows them.';
}
