import type { PlainPreset } from './dialect-presets.js';

/** The lock of most libraries: a value of the holder's own at the lock's name, `SET NX PX`, removed by compare-and-delete. */
export interface PlainDialect {
  readonly name: 'plain' | PlainPreset;
  /** Stands before the lock's name in Redis, where the other side has another than its library's default. */
  readonly prefix?: string | undefined;
  /** Stands after the lock's name in Redis, as tooz wants it. Without it nothing. */
  readonly suffix?: string | undefined;
  /**
   * Clients of the SETNX articles use this lock too: our value is a time to come, which they respect, where any other
   * reads as past to them; and what they left without a time to live is taken over when it is past. A client that loses
   * a take-over overwrites what stands there; our value is written once more after 100 ms. So clients should take less
   * than that from GET to GETSET, and write a time at least a second away. For a second after a grant, any time that
   * appears there counts as such a client's: take a lock away by `forceRelease`, not by DEL. Our value is all digits, so
   * `inspect` cannot name the holder.
   */
  readonly guard?: 'timestamp' | undefined;
}

/**
 * Laravel's `Cache::lock`, a plain lock. Its keys begin with the prefix of the Redis connection (`REDIS_PREFIX`) and that of
 * the cache (`CACHE_PREFIX`). Both are made of the application's name, and differ between versions, so `prefix` has no default.
 */
export interface LaravelDialect extends Omit<PlainDialect, 'name' | 'prefix'> {
  readonly name: 'laravel';
  /**
   * Both prefixes as `redis-cli --scan` shows them. Up to Laravel 10 a colon follows that of the cache: `laravel_database_laravel_cache_:`.
   * From Laravel 11 on none does: `laravel_database_laravel_cache_`, in newer applications `laravel-database-laravel-cache-`.
   */
  readonly prefix: string;
}

/**
 * The lock of the SETNX articles: its value is the moment at which it ends. The clocks of all clients should agree to a
 * second. Each client should write a time at least a second away, as `now + timeout + 1` of the articles is, and take
 * less than 100 ms from its GET to its GETSET: a client that loses a take-over overwrites the winner's time, and ours is
 * written once more after 100 ms. For a second after we wrote, any other time to come counts as such a client's: take a
 * lock away by `forceRelease`, not by DEL. A crash costs the rest of the lease and a second. A value that is no time in this
 * unit, or that Redis ends by itself, is never taken over.
 */
export interface TimestampDialect {
  readonly name: 'timestamp';
  /** Stand before and after the lock's name in Redis; nothing if nothing is said. */
  readonly prefix?: string | undefined;
  readonly suffix?: string | undefined;
  /** What a value counts: whole seconds, whole ms, or seconds with a fraction. Without it seconds. */
  readonly unit?: 's' | 'ms' | 'float' | undefined;
  /**
   * `'commands'`: SETNX, GET and GETSET one after the other, no time to live, as the articles' clients do; such a lock
   * has no fencing tokens. `'script'`: the same in one step, with a time to live. Without it `'script'`.
   */
  readonly protocol?: 'commands' | 'script' | undefined;
}

/**
 * Redisson's locks. RFairLock is none of them: its queue is ordered by the clocks of its clients, and who gives up or
 * dies in it moves the others' time-outs, so no order could be promised to either side.
 */
export interface RedissonDialect {
  readonly name: 'redisson';
  /** RLock; RFencedLock, whose own tokens our grants get then; or RReadWriteLock, with `mode: 'shared'`. Without it `'lock'`. */
  readonly kind?: 'lock' | 'fenced' | 'readWrite' | undefined;
  /** Stands before the lock's name in Redis, where the other side has a NameMapper. */
  readonly prefix?: string | undefined;
  /** Wake waiters by SPUBLISH, as Redisson does on a Redis Cluster from version 7 on. Without it by PUBLISH. */
  readonly sharded?: boolean | undefined;
}

/** The RedisStore of symfony/lock, from 5.2 on, with `mode: 'shared'`. */
export interface SymfonyDialect {
  readonly name: 'symfony';
  /** Stands before the lock's name in Redis, where the other side's client has one. */
  readonly prefix?: string | undefined;
}

/** RedisLockRegistry of Spring Integration, in versions 5 to 7. */
export interface SpringDialect {
  readonly name: 'spring';
  /** The registry's `registryKey`: locks stand at `<registry>:<name>`. */
  readonly registry: string;
  /** Wake waiters of registries with PUB_SUB_LOCK; `false` where all have SPIN_LOCK, Spring's default, and nobody listens. Without it `true`. */
  readonly publish?: boolean | undefined;
}

/**
 * The Lock of python-redis-lock (`redis_lock`), at `lock:<name>`, woken by `lock-signal:<name>`; redis-py's own is `'redis-py'`.
 * Its waiters sleep for their `timeout` or `expire`: without either, nothing but a release wakes them. On a Cluster a name needs a hash tag.
 */
export interface PythonRedisLockDialect {
  readonly name: 'python-redis-lock';
}

/** A dialect by its name, with options. */
export type DialectChoice =
  | PlainDialect
  | LaravelDialect
  | TimestampDialect
  | RedissonDialect
  | SymfonyDialect
  | SpringDialect
  | PythonRedisLockDialect;

/** How another service writes its locks; a name alone for all its defaults. `'native'`: our own, where the module has a dialect. */
export type LockDialect =
  'native' | Exclude<DialectChoice, SpringDialect | LaravelDialect>['name'] | DialectChoice;
