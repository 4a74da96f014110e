import type { Extended } from '../locks/lock-store.js';
import type { LockRequest } from '../locks/lock-request.js';
import { MemoryHolders, modeOf } from './memory-holders.js';
import type { MemoryServer } from './memory-server.js';
import { rememberedFor } from './mint-fencing-tokens.js';

/** Lengthens a lease that is still its holder's, as the extend.lua of its mode does; what is left of it, or where it went. */
export function extension(
  server: MemoryServer,
  name: string,
  { holder, ttl, share }: LockRequest,
): Extended {
  const { values, fences } = server;
  const holders = new MemoryHolders(server, name);
  if (holders.left(holder, share) === undefined) {
    const over = !values.has(name) || (share && holders.mode === modeOf(share));
    return over ? 'free' : 'taken';
  }
  holders.extend(holder, share, ttl);
  const token = fences.get(name);
  if (token !== undefined) fences.expire(name, rememberedFor(server, token));
  return holders.left(holder, share)!;
}
