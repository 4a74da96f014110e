import type { ModulesContainer } from '@nestjs/core';
import { LockService } from './lock.service.js';

/** On the `LockService` of each copy of this package. */
const BRAND = Symbol.for('nest-redis-lock.LockService');
Object.defineProperty(LockService, BRAND, { value: true });

/** What the `LockService` of a module is injected by: the class, or for a named module a text of its own. */
export function lockServiceToken(module?: string): typeof LockService | string {
  return module === undefined ? LockService : `LockService:${module}`;
}

/** True for what injects the `LockService` of any module. */
export function isLockServiceToken(token: unknown): boolean {
  return token === LockService || (typeof token === 'string' && token.startsWith('LockService:'));
}

/** True if a module of the application provides something by such a token. */
export function isProvided(
  modules: ModulesContainer,
  isWanted: (token: unknown) => boolean,
): boolean {
  return [...modules.values()].some(({ providers }) => [...providers.keys()].some(isWanted));
}

/** Why an application without a `LockService` of this copy of the package has none; `otherwise` where no copy has one. */
export function whyMissing(modules: ModulesContainer, otherwise: string): string {
  if (!isProvided(modules, (token) => Object.hasOwn(Object(token), BRAND))) return otherwise;
  return 'another copy of nest-redis-lock provides it. All must load one copy: "npm ls nest-redis-lock" shows them.';
}
