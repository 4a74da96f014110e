import { LockService } from './lock.service.js';

/** What the `LockService` of a module is injected by: the class, or for a named module a text of its own. */
export function lockServiceToken(module?: string): typeof LockService | string {
  return module === undefined ? LockService : `LockService:${module}`;
}
