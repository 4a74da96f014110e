import { ForeignLockError } from '../../errors/index.js';
import type { Answer } from '../lock-primitive.js';

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
