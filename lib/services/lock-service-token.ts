import { LockService } from './lock.service.js';

/** What the `LockService` of a module is injected by: the class, or for a named module a text of its own. */
export function lockServiceToken(module?: string): typeof LockService | string {
  return module === undefined ? LockService : `LockService:${module}`;
}

/** True for what injects the `LockService` of any module. */
export function isLockServiceToken(token: unknown): boolean {
  return token === LockService || (typeof token === 'string' && token.startsWith('LockService:'));
}
