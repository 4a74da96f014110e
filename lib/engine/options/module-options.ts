import type { RedisOptions } from 'ioredis';
import {
  type CallSettings,
  CALL_DEFAULTS,
  callSettings,
  type LockCallOptions,
} from './call-options.js';
import { checkStore } from './dialect.js';
import { type Duration, milliseconds } from './duration.js';
import { LIMITS, type LimitSettings, type LockLimits, limitSettings } from './limits.js';
import { affix, oneOf } from './option-checks.js';
import {
  type CheckedSource,
  DEFAULT_SOURCE,
  DEFAULT_URL,
  type RedisSource,
  redisSource,
} from './redis-source.js';
import { type ReplicaOptions, type ReplicaSettings, replicaSettings } from './replica-options.js';
import { LockOptionsError } from '../errors/index.js';

/** The options of `RedisLockModule`. Options of a call, given here, are the defaults of all calls. */
export interface RedisLockOptions extends LockCallOptions {
  /**
   * The Redis that keeps the locks: a URL, ioredis options, `{ cluster: [...] }`, or an ioredis client, which is copied.
   * `'memory:'` keeps them in the memory of this process, for a first try and for development. It warns at the start, and
   * throws where `NODE_ENV` is `production`; `'memory:one-process'` does neither.
   * @default 'redis://127.0.0.1:6379'
   */
  readonly redis?: RedisSource | undefined;
  /**
   * Independent servers instead of `redis`, at least two, best three or five. A caller holds a lock while a majority of
   * them grants it (Redlock). Such locks are exclusive and have no queue: shared mode, permits, conditions and optimistic
   * reads throw `LockOptionsError`.
   */
  readonly nodes?: readonly RedisSource[] | undefined;
  /** The beginning of every key in Redis. Up to 256 characters, without braces and control characters. @default 'lock:' */
  readonly keyPrefix?: string | undefined;
  /**
   * How long a command to Redis may take. A call that did not reach the queue rejects with `LockStoreError` after this
   * time; `restore` may take twice as long. From 50 ms to 60 s. @default '2s'
   */
  readonly commandTimeout?: Duration | undefined;
  /**
   * How long a first connection may take. The start rejects with `LockStoreError` after this time; with `lazyConnect` the
   * attempt of a call ends then, and the next call makes a new one. It counts for each server of a quorum and for each
   * node of a Cluster. From 50 ms to 10 min. @default '5s'
   */
  readonly connectTimeout?: Duration | undefined;
  /**
   * How long a call that waits in the queue goes on waiting while Redis is away, within its `wait`. Then it rejects with
   * `LockStoreError`. From 0 up. @default '30s'
   */
  readonly outageWait?: Duration | undefined;
  /**
   * How long a shutdown lets running code keep its locks, counted from the first shutdown hook. They are renewed until the
   * code ends. A lease that is left then is lost (`lease.signal`, reason `shutdown`), released, and named in the log.
   * From 0 to 1 hour; keep it below the time that the platform gives the process. With 0, leases are released as soon as
   * Nest has closed its connections. The default in `nest-redis-lock/testing` is 0.
   * @default '10s'
   */
  readonly shutdownGrace?: Duration | undefined;
  /** Upper bounds of waiting callers, leases and the length of keys. */
  readonly limits?: LockLimits | undefined;
  /** A grant or a renewal counts only when this many replicas have it. Each costs a `WAIT`. Default: none. */
  readonly replicas?: ReplicaOptions | undefined;
  /**
   * What to do about a Redis that can lose locks: one that evicts keys, has no append-only file, or is replicated without
   * `replicas`. `'warn'` logs it at start-up. `'refuse'` rejects the start where keys are evicted or a failover can leave two
   * primaries. It also grants nothing for one `ttl` after a server was started or promoted.
   * @default 'warn'
   */
  readonly durability?: 'ignore' | 'warn' | 'refuse' | undefined;
  /**
   * The order in which callers get a lock. `'local'`: the callers of a process share one queue entry and hand the lock on in
   * memory, for at most 10 ms; then another process has its turn. `'strict'`: each caller has its own entry, and all
   * processes are served in the order of arrival. A process without a connection at a release is passed over then, and its
   * callers keep their entries.
   * @default 'local'
   */
  readonly fairness?: 'local' | 'strict' | undefined;
  /**
   * Detects lock-order inversion: two calls of this process that nest the same locks in opposite orders, and can deadlock.
   * `'warn'` logs the stacks of both calls once; `'throw'` rejects the call with `LockOrderError`. It sees locks held by
   * `withLock`, decorators and `lease.run`. It keeps keys and stacks in memory, so use it in tests and staging. The default
   * in `nest-redis-lock/testing` is `'warn'`.
   * @default 'ignore'
   */
  readonly lockOrder?: 'ignore' | 'warn' | 'throw' | undefined;
  /**
   * Protects these locks from clients of the SETNX articles. Our value begins with a future time. Clients respect it if they
   * read the beginning of a text as a number (Ruby, PHP, JavaScript's `parseFloat`). A value of theirs without a time to live
   * is taken over when its time is past. For clients that read the whole text (Python's `float`, JavaScript's `Number`), use
   * dialect `plain` with its `guard`. The conditions stated there for clients hold here too. Default: none.
   */
  readonly guard?: 'timestamp' | undefined;
  /** Connects at the first call instead of at start-up, so that an application starts while Redis is away. @default false */
  readonly lazyConnect?: boolean | undefined;
}

/** {@link RedisLockOptions} checked, in ms, without gaps. */
export interface ModuleSettings {
  readonly redis: CheckedSource;
  /** Whether the locks are in the memory of this process; `redis` means nothing then. */
  readonly inMemory: boolean;
  /** The servers of a quorum, which replace `redis`. */
  readonly nodes: readonly CheckedSource[] | undefined;
  readonly keyPrefix: string;
  readonly call: CallSettings;
  readonly commandTimeout: number;
  readonly connectTimeout: number;
  readonly outageWait: number;
  readonly shutdownGrace: number;
  readonly replicas: ReplicaSettings | undefined;
  readonly durability: 'ignore' | 'warn' | 'refuse';
  readonly limits: LimitSettings;
  readonly fairness: 'local' | 'strict';
  readonly lockOrder: 'ignore' | 'warn' | 'throw';
  /** Whether native locks are protected from clients of the SETNX articles: option `guard`. */
  readonly timestampCompat: boolean;
  readonly lazyConnect: boolean;
}

export const MODULE_DEFAULTS = {
  redis: DEFAULT_URL,
  keyPrefix: 'lock:',
  commandTimeout: 2_000,
  connectTimeout: 5_000,
  outageWait: 30_000,
  shutdownGrace: 10_000,
  limits: LIMITS,
  durability: 'warn',
  fairness: 'local',
  lockOrder: 'ignore',
  lazyConnect: false,
} as const;

/**
 * The settings of a module.
 * @throws LockOptionsError naming the first option that is wrong, misspelt or in conflict.
 */
export function moduleSettings(options: RedisLockOptions): ModuleSettings {
  if (typeof options !== 'object' || options === null) {
    throw new LockOptionsError(
      'RedisLockModule got no options: return an object, {} for defaults.',
    );
  }
  const duration = (
    name: 'commandTimeout' | 'connectTimeout' | 'outageWait' | 'shutdownGrace',
    min: number,
    max: number,
  ): number => milliseconds(name, options[name] ?? MODULE_DEFAULTS[name], { min, max });
  const call = callSettings(options, CALL_DEFAULTS, [
    ...Object.keys(MODULE_DEFAULTS),
    'nodes',
    'replicas',
    'guard',
  ]);
  if (call.dialect) checkStore(call.dialect, options);
  if (options.nodes !== undefined && call.maxWaiting < Infinity) {
    throw new LockOptionsError(
      'Options "maxWaiting" and "nodes" exclude each other: a quorum has no queue in which callers could be counted.',
    );
  }
  const commandTimeout = duration('commandTimeout', 50, 60_000);
  const memory = inMemory(options);
  return {
    redis: memory ? DEFAULT_SOURCE : redisSource('"redis"', options.redis ?? DEFAULT_SOURCE),
    inMemory: memory,
    nodes: nodes(options),
    replicas: replicaSettings(options, call, commandTimeout),
    durability: word('durability', options, ['ignore', 'warn', 'refuse']),
    keyPrefix: affix('"keyPrefix"', options.keyPrefix ?? MODULE_DEFAULTS.keyPrefix),
    call,
    commandTimeout,
    connectTimeout: duration('connectTimeout', 50, 600_000),
    outageWait: duration('outageWait', 0, Infinity),
    shutdownGrace: duration('shutdownGrace', 0, 3_600_000),
    limits: limitSettings(options.limits ?? {}),
    fairness: word('fairness', options, ['local', 'strict']),
    lockOrder: word('lockOrder', options, ['ignore', 'warn', 'throw']),
    timestampCompat: timestampCompat(options),
    lazyConnect: word('lazyConnect', options, [true, false]),
  };
}

/** The kind of store that keeps the locks of a module. */
export function topologyOf({
  redis,
  nodes: servers,
  inMemory: memory,
}: ModuleSettings): 'redis' | 'sentinel' | 'cluster' | 'quorum' | 'memory' {
  if (memory) return 'memory';
  if (servers) return 'quorum';
  if ('cluster' in redis || 'nodes' in redis) return 'cluster';
  const given = ('options' in redis ? redis.options : redis) as RedisOptions;
  return given.sentinels ? 'sentinel' : 'redis';
}

/** @throws LockOptionsError in production, where the replicas of a service would not exclude each other. */
function inMemory({ redis }: RedisLockOptions): boolean {
  if (redis === 'memory:one-process') return true;
  if (redis !== 'memory:') return false;
  if (process.env['NODE_ENV'] !== 'production') return true;
  throw new LockOptionsError(
    'Option "redis" is \'memory:\' where NODE_ENV is "production": no other process sees such locks. Give the URL of a Redis, or \'memory:one-process\' if there never is a second process.',
  );
}

/** The value of an option that takes one of some words. */
function word<Option extends 'lazyConnect' | 'fairness' | 'lockOrder' | 'durability'>(
  option: Option,
  options: RedisLockOptions,
  words: readonly ModuleSettings[Option][],
): ModuleSettings[Option] {
  const given: unknown = options[option] ?? MODULE_DEFAULTS[option];
  return oneOf(`"${option}"`, given as ModuleSettings[Option], words);
}

function nodes(given: RedisLockOptions): ModuleSettings['nodes'] {
  if (given.nodes === undefined) return undefined;
  if (!Array.isArray(given.nodes) || given.nodes.length < 2) {
    throw new LockOptionsError(
      'Option "nodes" takes two or more servers, best three or five: URLs, ioredis options or ioredis clients.',
    );
  }
  if (given.redis !== undefined) {
    throw new LockOptionsError('Options "redis" and "nodes" exclude each other.');
  }
  return given.nodes.map((node, at) => redisSource(`"nodes" (server ${at + 1})`, node));
}

function timestampCompat({ guard: given, nodes: servers }: RedisLockOptions): boolean {
  if (given === undefined) return false;
  oneOf('"guard"', given, ['timestamp']);
  if (servers === undefined) return true;
  throw new LockOptionsError(
    'Options "guard" and "nodes" exclude each other: clients of the SETNX articles lock on one Redis.',
  );
}
