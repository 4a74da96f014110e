import { ForeignLockError } from '../../errors/index.js';
import type { Moment } from '../../options/index.js';
import type { Answer } from '../lock-primitive.js';
import type { LockRequest } from '../lock-request.js';

/** What the acquire scripts return: the clock alone says `held` for the whole ttl, with all tokens, the first of which is the clock. */
export type AcquireReply =
  | number
  | [
      kind: Answer['kind'] | 'foreign',
      left: number | string,
      now: number,
      former: number,
      detail: string | number,
      count: number,
      rejoined: number,
    ];

/** @throws ForeignLockError if something else stands at the lock's name. */
export function answerOf(
  reply: AcquireReply,
  { key, ttl, tokens }: LockRequest,
  sent: Moment,
  renewIn: number | undefined,
): Answer {
  if (typeof reply === 'number') {
    const fencingToken = tokens > 0 ? reply : undefined;
    return { kind: 'held', sent, remaining: ttl, fencingToken, tokens, gaveBack: false, renewIn };
  }
  const [kind, left, , former, detail, count, rejoined] = reply;
  const gaveBack = former === 1;
  const remaining = left as number;
  switch (kind) {
    case 'held': {
      const fencingToken = (detail as number) < 0 ? undefined : (detail as number);
      const signalled = rejoined === 1;
      return { kind, sent, remaining, fencingToken, tokens: count, gaveBack, signalled, renewIn };
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
