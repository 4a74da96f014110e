import { heldAlone, modeAt } from './holder.js';
import { named } from '../redis/index.js';
import inspectString from './inspect-string.lua.js';
import type { Snapshot } from './lock-store.js';
import { lastToken } from './reply.js';

/** Inspects a lock without a queue of ours: a string in another service's format, or one node's vote of a quorum. */
export const scripts = named('store', { inspectString });

/** The reply of lock/inspect.lua. */
type NativeReply = [
  type: string,
  current: string,
  remaining: number,
  fence: string,
  now: number,
  waiting: number,
  holders: string[],
  entries: string[],
  awaiting: number,
  sight: string,
];

/** The snapshot of a native lock. */
export function snapshotOf(reply: unknown, most: number): Snapshot {
  const [type, current, remaining, fence, at, waiting, holders, entries, awaiting, sight] =
    reply as NativeReply;
  const mode = modeAt(current);
  const { holder, firstToken } = heldAlone(mode ? '' : current);
  const now = at / 1_000;
  return {
    type,
    holder,
    holders: [...pairs(holders)]
      .flatMap(([member, ends]) => {
        const [shares, count = '1'] = member.split('#') as [string, string?];
        const lease = { holder: shares, remaining: ends - now };
        return Array.from({ length: Math.min(Number(count), most) }, () => lease);
      })
      .slice(0, most),
    mode,
    remaining,
    fencingToken: lastToken(fence),
    firstToken,
    waiting,
    awaiting,
    sight: sight || undefined,
    entries: [...pairs(entries)].map(([entry, since]) => ({ entry, age: now - since / 1_000 })),
    now,
  };
}

/** The reply of scripts for a lock without a queue of ours: its holders, each with the ms left of the lease. */
type ReplyWithoutQueue = [
  type: string,
  isLock: number,
  remaining: number,
  fence: string,
  now: number,
  mode: 'read' | 'write',
  holders: (string | number)[],
  token: string,
  sight: string,
];

/** The snapshot of a lock without a queue of ours. */
export function snapshotWithoutQueue(reply: unknown): Snapshot {
  const [type, isLock, left, fence, now, mode, flat, token, sight] = reply as ReplyWithoutQueue;
  const holders = [...pairs(flat)].map(([holder, remaining]) => ({ holder, remaining }));
  const shared = isLock === 1 && mode === 'read';
  const [alone = { holder: '', remaining: left }] = shared ? [] : holders;
  return {
    type,
    ...alone,
    holders: shared ? holders : [],
    mode: shared ? 'shared' : undefined,
    sight: sight || undefined,
    foreign: isLock === 1 && type !== 'none',
    fencingToken: lastToken(fence),
    firstToken: lastToken(token.replace('-', '')), // a writer's has a minus before it
    waiting: 0,
    awaiting: 0,
    entries: [],
    now: now / 1_000,
  };
}

/** Pairs up a flat list of texts and numbers. */
function* pairs(flat: readonly (string | number)[]): Generator<[text: string, value: number]> {
  for (let at = 0; at + 1 < flat.length; at += 2) yield [String(flat[at]), Number(flat[at + 1])];
}
