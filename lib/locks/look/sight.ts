import type { Sight } from '../lock-store.js';
import { firstToken, lastToken } from '../reply.js';

/** What look.lua returns. */
type LookReply = [type: string, value: string, remaining: number, fence: string, now: number];

export function sightOf(reply: unknown): Sight {
  const [type, holder, remaining, fence, now] = reply as LookReply;
  return {
    type,
    holder,
    holders: [],
    remaining,
    fencingToken: lastToken(fence),
    firstToken: firstToken(fence),
    waiting: 0,
    awaiting: 0,
    places: [],
    now: now / 1_000,
  };
}
