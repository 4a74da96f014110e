import type { KeyType, LuaScript, Operands } from '../../redis/index.js';
import type { LockRequest } from '../lock-request.js';

/** A script of a dialect: a step on one lock, with the keys and operands of that dialect. */
export type DialectScript = LuaScript;

/** The reply of an acquisition, or of one of its steps. */
export type DialectReply = [
  kind: string,
  left: number | string,
  now: number,
  token: number,
  /**
   * The value that was seen. For `held`, 1 if a client that lost a take-over may overwrite the lock. For `busy`, 1 if the asker
   * is in the native queue; 2 if further callers of its process should ask too.
   */
  more?: string | number,
];

/** Runs a step of an acquisition; `more` adds operands to the common ones. */
export type Send = (script: DialectScript, more?: Operands) => Promise<DialectReply>;

/** A message that wakes waiters: its command, channel and text. */
export interface Wake {
  readonly publish: 'PUBLISH' | 'SPUBLISH';
  readonly channel: string;
  /** The channel of older versions of the other service. */
  readonly older?: string;
  readonly message: string;
}

/**
 * The format of another service's locks, without a queue. Each script is one atomic step, idempotent, and knows the holder by
 * the id of one grant.
 */
export interface Dialect {
  /** The Redis type of a lock's key. */
  readonly type: KeyType;
  /**
   * Replies `{kind, ms left or the foreign type, now, first token}`. Kinds are `held`, `busy`, `late` (the script ran after
   * `not_after` and changed nothing) and `foreign`; the token is -1 if none was asked for. With `limit`, an asker may join the
   * queue of native callers.
   */
  readonly acquire: DialectScript;
  /** Acquires by several steps, as the other service does; by default one script does it. */
  take?(send: Send): Promise<DialectReply>;
  /** Replies 1 if the lock was the holder's, else 0. With `keep`, nobody holds the lock for that many ms. */
  readonly release: DialectScript;
  /** Replies the ms left; -2 if the lock is free, -3 if it is another holder's. Never shortens or restores a lease. */
  readonly extend: DialectScript;
  /** Inspects a lock whose value is more than the holder; `snapshotWithoutQueue` reads the reply. */
  readonly inspect?: DialectScript;
  /**
   * Takes the lock from its holders, if more is needed than to delete and to publish. Replies the type that was found, and 1
   * for a lock, 2 if the holders are not those of `sight`.
   */
  readonly force?: DialectScript;
  /** The further Redis keys of a lock, or of one request to it, beside its own key, fence, grant and version. They are named as in the scripts. */
  keys?(lock: string, request?: LockRequest): Readonly<Record<string, string>>;
  /** The further operands of the scripts, beside holder, ttl and the like; without a request, those of an operator. */
  operands?(request: LockRequest | undefined, lock: string): Operands;
  /** The message that wakes the other service's waiters. */
  wake?(lock: string): Wake;
}
