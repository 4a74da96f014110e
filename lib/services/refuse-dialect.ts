import { LockOptionsError } from '../errors/index.js';
import type { CallSettings } from '../options/index.js';

/** @throws LockOptionsError where the module's locks are written in another service's format. */
export function refuseDialect({ dialect }: CallSettings, what: string): void {
  if (!dialect) return;
  throw new LockOptionsError(
    `${what} works on locks of our own, and this module has dialect "${dialect.name}": give the dialect to the calls that need it, or use a module without one.`,
  );
}
