/**
 * The text that each library with a plain lock puts before a lock's name. Two libraries need not agree on more. Each
 * compares a value with its own alone, and a key expires in the same way whatever unit of time a library uses.
 */
export const PRESETS = {
  plain: '',
  redlock: '',
  'redlock-universal': '',
  'redis-py': '',
  redsync: '',
  'bsm/redislock': '',
  'ioredis-lock': '',
  verrou: '',
  murlock: '',
  'redis-semaphore': 'mutex:',
  shedlock: 'job-lock:default:',
  lock4j: 'lock4j:',
  pottery: 'redlock:',
  'RedLock.net': 'redlock:',
} as const satisfies Record<'plain' | PlainPreset, string>;

/** A library whose locks are plain. */
export type PlainPreset =
  | 'redlock'
  | 'redlock-universal'
  | 'redis-py'
  | 'redsync'
  | 'bsm/redislock'
  | 'ioredis-lock'
  | 'verrou'
  | 'murlock'
  | 'redis-semaphore'
  | 'shedlock'
  | 'lock4j'
  | 'pottery'
  | 'RedLock.net';

/** The lock of most libraries: a random value at the lock's name, set by `SET NX PX` and removed by compare-and-delete. */
export interface PlainDialect {
  readonly name: 'plain' | PlainPreset;
  /** The text before the lock's name in Redis. Default: the one that the named library uses. */
  readonly prefix?: string | undefined;
  /** The text after the lock's name in Redis, which tooz has. Default: ''. */
  readonly suffix?: string | undefined;
  /**
   * Protects the lock from clients of the SETNX articles. Our value is a future time, which these clients respect. A value
   * of theirs without a time to live is taken over when its time is past. A client that loses a take-over overwrites our
   * value, so the library writes it once more after 100 ms. Clients must therefore take less than 100 ms from GET to GETSET,
   * and write a time at least 1 s ahead. For 1 s after a grant, any time at the key counts as such a client's: free a lock by
   * `forceRelease`, not by DEL. The value has only digits, so `inspect` cannot name the holder. Default: none.
   */
  readonly guard?: 'timestamp' | undefined;
}

/**
 * Laravel's `Cache::lock`, a plain lock. Its keys begin with the prefix of the Redis connection (`REDIS_PREFIX`) and the
 * prefix of the cache (`CACHE_PREFIX`). Both contain the application's name and differ between versions, so `prefix` has no
 * default.
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
 * The lock of the SETNX articles: its value is the time at which it ends. It has conditions. The clocks of all clients
 * agree to 1 s. Each client writes a time at least 1 s ahead, as `now + timeout + 1` does, and takes less than 100 ms from
 * GET to GETSET. A client that loses a take-over overwrites the winner's time, so the library writes its time once more
 * after 100 ms. For 1 s after a write, any other future time counts as such a client's: free a lock by `forceRelease`, not
 * by DEL. A crash costs the rest of the lease and 1 s; in whole seconds 2 s, by `'commands'` 3 s. A value that is no time
 * in this unit, or has a time to live, is never taken over.
 */
export interface TimestampDialect {
  readonly name: 'timestamp';
  /** The text before the lock's name in Redis. Default: ''. */
  readonly prefix?: string | undefined;
  /** The text after the lock's name in Redis. Default: ''. */
  readonly suffix?: string | undefined;
  /** The unit of a value: whole seconds, whole ms, or seconds with a fraction. Default: 's'. */
  readonly unit?: 's' | 'ms' | 'float' | undefined;
  /**
   * `'commands'`: SETNX, GET and GETSET one after the other, without a time to live, as the articles' clients do; such a
   * lock has no fencing tokens. `'script'`: the same in one script, with a time to live. Default: 'script'.
   */
  readonly protocol?: 'commands' | 'script' | undefined;
}

/**
 * Redisson's locks. RFairLock is not supported: the clocks of its clients order its queue, and a client that gives up or
 * dies moves the others' time-outs. So neither side could rely on an order.
 */
export interface RedissonDialect {
  readonly name: 'redisson';
  /**
   * `'lock'` for RLock; `'fenced'` for RFencedLock, whose tokens our grants then have; `'readWrite'` for RReadWriteLock,
   * which allows `mode: 'shared'`. Default: 'lock'.
   */
  readonly kind?: 'lock' | 'fenced' | 'readWrite' | undefined;
  /** The text before the lock's name in Redis, if the other side has a NameMapper. Default: ''. */
  readonly prefix?: string | undefined;
  /** Wakes waiters by SPUBLISH instead of PUBLISH, as Redisson does on a Redis Cluster from Redis 7 on. Default: false. */
  readonly sharded?: boolean | undefined;
}

/** The RedisStore of symfony/lock, from 5.2 on, with `mode: 'shared'`. */
export interface SymfonyDialect {
  readonly name: 'symfony';
  /** The text before the lock's name in Redis, if the other side's client adds one. Default: ''. */
  readonly prefix?: string | undefined;
}

/** RedisLockRegistry of Spring Integration, in versions 5 to 7. */
export interface SpringDialect {
  readonly name: 'spring';
  /** The registry's `registryKey`. A lock's key in Redis is `<registry>:<name>`. */
  readonly registry: string;
  /**
   * Wakes waiters of registries of type PUB_SUB_LOCK. Give false where all registries have SPIN_LOCK, Spring's default: then
   * nobody listens. Default: true.
   */
  readonly publish?: boolean | undefined;
}

/**
 * The Lock of python-redis-lock (`redis_lock`), at `lock:<name>`, woken by `lock-signal:<name>`. The lock of redis-py itself is
 * `'redis-py'`. Its waiters sleep for their `timeout` or `expire`; without either, only a release wakes them. On a Cluster, a
 * name needs a hash tag.
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

/** The format of another service's locks: a name, or a name with options. `'native'` is the library's own format. */
export type LockDialect =
  'native' | Exclude<DialectChoice, SpringDialect | LaravelDialect>['name'] | DialectChoice;
