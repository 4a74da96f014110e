import type { RedisOptions } from 'ioredis';
import {
  type CallSettings,
  CALL_DEFAULTS,
  callSettings,
  type LockCallOptions,
} from './call-options.js';
import { checkStore } from './lock-format.js';
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
   * The Redis of the locks: a URL, ioredis options, `{ cluster: [...] }`, or your client. `'memory:'`: the memory of this
   * process, for a first try; it warns, and throws where `NODE_ENV` is `production`. `'memory:one-process'` does neither.
   *
   * An ioredis client is copied.
   * @default 'redis://127.0.0.1:6379'
   * @see The Redis in docs/start.md#connect
   */
  readonly redis?: RedisSource | undefined;
  /**
   * Independent servers instead of `redis`, best three or five: a majority of them grants the lock (Redlock). Exclusive
   * locks only.
   *
   * Such locks have no queue: shared mode, permits, conditions and optimistic reads throw `LockOptionsError`.
   * @range 2 or more
   * @see Exclusive locks only in docs/topologies.md#what-a-quorum-refuses
   */
  readonly nodes?: readonly RedisSource[] | undefined;
  /**
   * The beginning of every key in Redis. A `keyPrefix` of the client or of the ioredis options in `redis` stands before it,
   * and before the prefix of a dialect. The command line and the Redis user need both.
   *
   * Up to 256 characters, without braces and control characters.
   * @default 'lock:'
   */
  readonly keyPrefix?: string | undefined;
  /**
   * Bound of a command, and of a call that did not reach the queue; `restore` may take twice as long.
   *
   * The call rejects with `LockStoreError` then.
   * @range 50 ms to 60 s
   * @default '2s'
   */
  readonly commandTimeout?: Duration | undefined;
  /**
   * Bound of a first connection to a server, at the start or with `lazyConnect` at the first call. `connectTimeout` in the
   * ioredis options of `redis` has no effect.
   *
   * The start rejects with `LockStoreError` after this time; with `lazyConnect` the attempt of a call ends then, and the
   * next call makes a new one. It counts for each server of a quorum and for each node of a Cluster.
   * @range 50 ms to 10 min
   * @default '5s'
   */
  readonly connectTimeout?: Duration | undefined;
  /**
   * How long a queued call survives an outage of Redis, within its `wait`.
   *
   * Then it rejects with `LockStoreError`.
   * @range from 0
   * @default '30s'
   */
  readonly outageWait?: Duration | undefined;
  /**
   * How long a shutdown lets running code keep its locks.
   *
   * It counts from the first shutdown hook, and the locks are renewed until the code ends. A lease that is left then is
   * lost (`lease.signal`, reason `shutdown`), released, and named in the log. Keep it below the time that the platform
   * gives the process. With 0, leases are released as soon as Nest has closed its connections. The default in
   * `nest-redis-lock/testing` is 0.
   * @range 0 to 1 h
   * @default '10s'
   * @see shutdown in docs/operations.md#shutdown
   */
  readonly shutdownGrace?: Duration | undefined;
  /** Caps of waiting callers, leases and the length of keys. @see Caps in docs/options.md#limits */
  readonly limits?: LockLimits | undefined;
  /**
   * `{ acks, timeout }`: grants and renewals count only when `acks` replicas have them within `timeout` (`'500ms'`, less
   * where `ttl` or `commandTimeout` is short). While too few do, nobody gets a lock (`ReplicasNotReachedError`). Not with
   * `nodes`.
   *
   * Each costs a `WAIT`. Default: none.
   */
  readonly replicas?: ReplicaOptions | undefined;
  /**
   * What to do about a Redis that can forget locks: it evicts keys, has no append-only file, or is replicated without
   * `replicas`. `'warn'` says so at start-up, `'ignore'` says nothing. `'refuse'` rejects the start where keys are evicted
   * or a failover can leave two primaries.
   *
   * `'refuse'` also grants nothing for one `ttl` after a server was started or promoted.
   * @default 'warn'
   * @see `'refuse'` in docs/faults.md#²-locks-on-a-server-that-must-not-forget
   */
  readonly durability?: 'ignore' | 'warn' | 'refuse' | undefined;
  /**
   * `'local'`: callers of one process share an entry in the queue and pass the lock on in memory, for 10 ms at most.
   * `'strict'`: every caller has an entry of its own, and all are served in the order of arrival.
   *
   * After those 10 ms another process has its turn. A process without a connection at the moment of a release is passed
   * over; its callers keep their entries.
   * @default 'local'
   */
  readonly fairness?: 'local' | 'strict' | undefined;
  /**
   * Watches this process for nested locks that are taken in opposite orders. `'warn'` logs the stacks of both calls once;
   * `'throw'` throws `LockOrderError`. It remembers keys and stacks: for tests and staging.
   *
   * Such calls can deadlock. Locks held by `withLock`, decorators and `lease.run` are seen. The default in
   * `nest-redis-lock/testing` is `'warn'`.
   * @default 'ignore'
   */
  readonly lockOrder?: 'ignore' | 'warn' | 'throw' | undefined;
  /**
   * `'timestamp'`: clients of the SETNX articles respect native locks. Not with `nodes`.
   *
   * Our value begins with a future time. Clients respect it if they read the beginning of a text as a number (Ruby, PHP,
   * JavaScript's `parseFloat`). A value of theirs without a time to live is taken over when its time is past. For clients
   * that read the whole text (Python's `float`, JavaScript's `Number`), use dialect `plain` with its `guard`. The
   * conditions stated there for clients hold here too. Default: none.
   * @see clients of the SETNX articles in docs/other-services.md
   */
  readonly guard?: 'timestamp' | undefined;
  /**
   * Connects at the first call instead of at start-up.
   *
   * So an application starts while Redis is away.
   * @default false
   */
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
  checkStore(call.format, options);
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
