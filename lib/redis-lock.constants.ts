/** Metadata on a method that `@Locked` wraps: its {@link LockedMetadata}. */
export const LOCKED_METADATA = Symbol('nest-redis-lock:locked');
/** Metadata on a handler or controller under `@LockedRequest`. */
export const LOCKED_REQUEST_METADATA = Symbol('nest-redis-lock:locked-request');
/** Metadata on (class, method): parameters named by `@LockKey`, as [name, index] pairs. */
export const LOCK_KEY_METADATA = Symbol('nest-redis-lock:lock-key');
/** Metadata on (class, method): positions of `@CurrentLease`. */
export const CURRENT_LEASE_METADATA = Symbol('nest-redis-lock:current-lease');
/** Metadata on a method under `@LeaderOnly`: its {@link LeaderOnlyMetadata}. */
export const LEADER_ONLY_METADATA = Symbol('nest-redis-lock:leader-only');
