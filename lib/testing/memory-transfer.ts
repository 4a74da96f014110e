import type { Extended } from '../locks/lock-store.js';
import type { LockRequest } from '../locks/lock-request.js';
import { extension } from './memory-extension.js';
import { MemoryHolders } from './memory-holders.js';
import type { MemoryServer } from './memory-server.js';

/** Puts another holder in the place of the exclusive holder, as transfer.lua does; what is left of the lease. */
export function transfer(
  server: MemoryServer,
  name: string,
  { holder }: LockRequest,
  successor: LockRequest,
): Extended {
  const holders = new MemoryHolders(server, name);
  const left = holders.left(holder, undefined);
  const ttl = left === undefined ? 0 : successor.ttl;
  if (left !== undefined) holders.hold(successor.holder, undefined, Math.max(left, 1));
  return extension(server, name, { ...successor, ttl, share: undefined });
}
