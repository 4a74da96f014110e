import type { DialectSettings, Share } from '../options/index.js';

/** Identifies one acquisition. The same fields acquire, renew and release it. */
export interface LockRequest {
  readonly key: string;
  /** Unguessable, and never sent again once released or left. */
  readonly holder: string;
  /** In ms. */
  readonly ttl: number;
  /** How many fencing tokens a grant reserves; 0: none. */
  readonly tokenBlock: number;
  /** With whom the lock is shared; undefined: with nobody. */
  readonly share?: Share | undefined;
  /** What the caller waits for before it queues. */
  readonly condition?: AwaitedCondition | undefined;
  /** In whose format the lock is written; undefined: ours. */
  readonly dialect?: DialectSettings | undefined;
  /** Queue if the lock is not free; else the answer is `busy`. */
  readonly queue?: boolean;
  /** The answer is `full` where so many wait; undefined: as many as the module's limit says. */
  readonly maxWaiting?: number | undefined;
  /** What an earlier answer said of this entry, so that it keeps its turn if the server forgot it. */
  readonly enqueuedAt?: string | undefined;
  /** A lease of the same caller, which the step gives back before it asks; only where nothing is shared. */
  readonly former?: LockRequest | undefined;
  /** Of an extension: so many ms were left by the last answer, and nobody had asked for as many. An end as far ahead is shortened. */
  readonly overlong?: number | undefined;
  /** False as soon as the caller has given up: nothing is sent any more. */
  readonly wanted?: (() => boolean) | undefined;
}

/** A condition of a lock, as a waiting caller names it. */
export interface AwaitedCondition {
  readonly name: string;
  /** The caller waits for the condition no longer, only for the lock. */
  readonly over: boolean;
  /** Whether it was signalled, or may have been; undefined while nobody knows. */
  readonly signalled?: boolean | undefined;
}

type Lock = Pick<LockRequest, 'key' | 'dialect'>;

/**
 * What tells locks of one process apart: ours of a name, and in another format the Redis key, however it is split into
 * prefix and name. No name has a control character.
 */
export function lockId({ key, dialect }: Lock): string {
  return dialect ? `${dialect.prefix}${key}${dialect.suffix}\n${dialect.format}` : key;
}

/** Whether who holds the one has the other too: what is written otherwise may not keep the same others out. */
export function isSameLock(one: Lock, other: Lock): boolean {
  return lockId(one) === lockId(other) && writing(one.dialect) === writing(other.dialect);
}

/** How a lock of its format is written, where there is a choice. */
function writing(dialect: DialectSettings | undefined): string | undefined {
  if (!dialect) return undefined;
  const { timestampCompat, unit, lasting, kind } = dialect;
  return [timestampCompat, unit, lasting, kind].join();
}
