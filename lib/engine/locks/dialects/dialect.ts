import type { KeyType, LuaScript, Operands } from '../../redis/index.js';
import type { LockRequest } from '../lock-request.js';

/** A script of a dialect: a step on one lock, with whatever keys and operands that dialect's locks have. */
export type DialectScript = LuaScript;

/** What an acquisition, or a step of one, answers. */
export type DialectReply = [
  kind: string,
  left: number | string,
  now: number,
  token: number,
  /**
   * The value that was seen; of what is held, 1 if a client that lost a take-over may write over it; of what is busy, 1 if
   * the asker queues with native callers, 2 if others of its process are to ask, too.
   */
  more?: string | number,
];

/** Takes a step of an acquisition; with operands beside those that all of them have. */
export type Send = (script: DialectScript, more?: Operands) => Promise<DialectReply>;

/** A message that wakes waiters: by which command, where, and what. */
export interface Wake {
  readonly publish: 'PUBLISH' | 'SPUBLISH';
  readonly channel: string;
  /** Where versions listen that do not know `channel` yet. */
  readonly older?: string;
  readonly message: string;
}

/**
 * How another service writes its locks: the shape of a kind of lock, without a queue. Each script is one
 * atomic step, has the effect of once when it runs twice, and knows the holder by the id of one grant.
 */
export interface Dialect {
  /** The Redis type of what stands at a lock's name. */
  readonly type: KeyType;
  /**
   * With `limit`, who asks may queue, where native callers may be at the same name.
   * `{kind, ms left or what stands there, now, first token}`: `held`, `busy`, `late` (it ran after `not_after`
   * and changed nothing) or `foreign`; the token is -1 where none was asked for.
   */
  readonly acquire: DialectScript;
  /** Acquires by several steps, where one would not be what the other side does. */
  take?(send: Send): Promise<DialectReply>;
  /** 1 if it was the holder's, else 0. With `keep`, the lock stays taken by nobody so many ms. */
  readonly release: DialectScript;
  /** The ms left; -2 where the lock is free, -3 where it is another's. Never shortens, never brings back. */
  readonly extend: DialectScript;
  /** Looks at the lock, where its value is more than the holder; as `snapshotWithoutQueue` reads it. */
  readonly inspect?: DialectScript;
  /** Takes the lock from whoever holds it, where that is more than to delete and to publish. Returns the type that was found, and 1 if it was a lock; 2 if others hold it than `sight` says. */
  readonly force?: DialectScript;
  /** The Redis keys of a lock (of one request to it, where one is at hand) beside its own, its fence, its grant and its version, by the names the scripts give them. */
  keys?(lock: string, request?: LockRequest): Readonly<Record<string, string>>;
  /** What the scripts want to know beside holder, ttl and the like; without a request, those of an operator. */
  operands?(request: LockRequest | undefined, lock: string): Operands;
  /** Where waiters of the other side are told that a lock is free, and how. */
  wake?(lock: string): Wake;
}
