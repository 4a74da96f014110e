import { ForeignLockError } from '../errors/index.js';
import type { Moment } from '../options/index.js';
import type { Answer, Batch, Extended } from './lock-store.js';
import type { LockRequest } from './lock-request.js';

// Replies and messages of the scripts, as docs/protocol.md describes them.

/** The error for an unreadable reply. The connection is replaced, since further replies may be out of step too. */
export function noReply(): Error {
  return new TypeError('no reply');
}

/** A reply of an acquire script. The clock alone means `held` for the whole ttl, with all tokens, from the clock on; a negative one means `late`. */
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
      signalled?: number,
    ];

/** @throws ForeignLockError if something else stands at the lock's name. */
export function answerOf(
  reply: AcquireReply,
  { key, ttl, tokenBlock }: LockRequest,
  sent: Moment,
  renewIn: number | undefined,
): Answer {
  if (typeof reply === 'number') {
    if (reply < 0) return { kind: 'late' };
    reply = ['held', ttl, reply, 0, tokenBlock > 0 ? reply : -1, tokenBlock, 0];
  }
  const [kind, left, , former, detail, count, rejoined, toldSignalled] = reply;
  const gaveBack = former === 1;
  const remaining = left as number;
  switch (kind) {
    case 'held': {
      const fencingToken = (detail as number) < 0 ? undefined : (detail as number);
      const signalled = rejoined === 1;
      return { kind, sent, remaining, fencingToken, tokens: count, gaveBack, signalled, renewIn };
    }
    case 'queued': {
      return {
        kind,
        remaining,
        enqueuedAt: detail as string,
        rank: count,
        requeued: rejoined === 1,
        signalled: toldSignalled === undefined ? undefined : toldSignalled === 1,
        gaveBack,
      };
    }
    case 'foreign':
      throw new ForeignLockError(key, left as string);
    case 'busy':
    case 'full':
    case 'late':
    case 'free':
    case 'taken':
      return { kind, gaveBack };
    default:
      throw noReply();
  }
}

/** @throws if a script answered no number. */
export function msOf(reply: unknown): number {
  if (typeof reply !== 'number') throw noReply();
  return reply;
}

/** Reads the state of a lease in a reply of extend or transfer. */
export function extendedOf(reply: unknown): Extended {
  const ms = msOf(reply);
  return ms === -2 ? 'free' : ms === -3 ? 'taken' : ms;
}

/** Reads the last token from a fence. */
export function lastToken(fence: string | undefined): number | undefined {
  return fence ? Number(fence) : undefined;
}

/** A message to this process's inbox; undefined for an unknown word. */
type Message =
  | { readonly kind: 'forced'; readonly holders: readonly string[] }
  /** The lock at a Redis key comes free by itself in this many ms. */
  | { readonly kind: 'kept'; readonly rest: number; readonly redisKey: string }
  | {
      readonly kind: 'held';
      readonly entry: string;
      readonly redisKey: string;
      /** The length of the lease in ms, from `at` (ms of the server's clock). */
      readonly remaining: number;
      readonly at: number;
      readonly fencingToken: number | undefined;
      readonly tokens: number;
      readonly batch: Batch | undefined;
    };

/** No script sends more characters: 250 holders by their ids at most, or an entry and a key. Reading more would cost time. */
const LONGEST_MESSAGE = 2 ** 17;

export function messageOf(text: string): Message | undefined {
  if (text.length > LONGEST_MESSAGE) return undefined;
  const [word, first, ...words] = text.split(' ');
  if (!first) return undefined;
  switch (word) {
    case 'forced':
      return { kind: word, holders: [first, ...words] };
    case 'kept':
      return { kind: word, rest: Number(first), redisKey: words.join(' ') };
    case 'granted': {
      const [left, at, token, count, behind, last, ...key] = words;
      return {
        kind: 'held',
        entry: first,
        redisKey: key.join(' '),
        remaining: Number(left),
        at: Number(at) / 1_000,
        fencingToken: lastToken(token),
        tokens: Number(count),
        batch: behind === '0' ? undefined : { entries: Number(behind), last: last! },
      };
    }
    default:
      return undefined;
  }
}
