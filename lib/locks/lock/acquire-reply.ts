import { ForeignLockError } from '../../errors/index.js';
import type { Answer, Claim } from '../lock-primitive.js';

/** What the acquire scripts return. */
export type AcquireReply = [
  kind: Answer['kind'] | 'foreign',
  left: number | string,
  now: number,
  former: number,
  detail: string | number,
  count: number,
  rejoined: number,
];

/** A reply in full: the clock alone stands for a grant of the whole ttl and all tokens, from the clock on. */
export function replyOf(reply: AcquireReply | number, { ttl, tokens }: Claim): AcquireReply {
  if (typeof reply !== 'number') return reply;
  return ['held', ttl, reply, 0, tokens > 0 ? reply : -1, tokens, 0];
}

/** @throws ForeignLockError if something else stands at the lock's name. */
export function answerOf(reply: AcquireReply, key: string, sentAt: number): Answer {
  const [kind, left, , former, detail, count, rejoined] = reply;
  const gaveBack = former === 1;
  const remaining = left as number;
  switch (kind) {
    case 'held': {
      const fencingToken = (detail as number) < 0 ? undefined : (detail as number);
      return { kind, sentAt, remaining, fencingToken, tokens: count, gaveBack };
    }
    case 'queued': {
      const arrival = detail as string;
      return { kind, remaining, arrival, rank: count, rejoined: rejoined === 1, gaveBack };
    }
    case 'foreign':
      throw new ForeignLockError(key, left as string);
    default:
      return { kind, gaveBack };
  }
}
