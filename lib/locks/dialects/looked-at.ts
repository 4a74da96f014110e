import type { Sight } from '../lock-store.js';
import { firstToken, lastToken } from '../reply.js';

/** What a look at a lock in another service's format returns: who holds it, each with what is left of the lease. */
type LookReply = [
  type: string,
  isLock: number,
  remaining: number,
  fence: string,
  now: number,
  mode: 'read' | 'write',
  holders: (string | number)[],
];

export function lookedAt(reply: unknown): Sight {
  const [type, isLock, remaining, fence, now, mode, flat] = reply as LookReply;
  const holders: { holder: string; remaining: number }[] = [];
  for (let at = 0; at < flat.length; at += 2) {
    holders.push({ holder: String(flat[at]), remaining: Number(flat[at + 1]) });
  }
  const shared = isLock === 1 && mode === 'read';
  return {
    type,
    holder: shared ? '' : (holders[0]?.holder ?? ''),
    holders: shared ? holders : [],
    mode: shared ? 'shared' : undefined,
    remaining: shared ? remaining : (holders[0]?.remaining ?? remaining),
    foreign: isLock === 1 && type !== 'none',
    fencingToken: lastToken(fence),
    firstToken: firstToken(fence),
    waiting: 0,
    awaiting: 0,
    places: [],
    now: now / 1_000,
  };
}
