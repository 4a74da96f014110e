import {
  type CallSettings,
  CALL_DEFAULTS,
  callSettings,
  type LockCallOptions,
} from './call-options.js';
import { checkStore } from './dialect-store.js';
import { type Duration, milliseconds } from './duration.js';
import { LIMITS, type LimitSettings, type LockLimits, limitSettings } from './limits.js';
import { affix, oneOf } from './option-checks.js';
import { type CheckedSource, type RedisSource, redisSource } from './redis-source.js';
import { type ReplicaOptions, type ReplicaSettings, replicaSettings } from './replica-options.js';
import { LockOptionsError } from '../errors/index.js';

/** The options of `RedisLockModule`. Those of a call stand here as defaults for all calls. */
export interface RedisLockOptions extends LockCallOptions {
  /** @default 'redis://127.0.0.1:6379' */
  readonly redis?: RedisSource | undefined;
  /**
   * Independent servers instead of `redis`, best three or five: a lock is held by who has the votes of a
   * majority of them (Redlock). There is no queue, and locks are held alone: no shared mode, permits,
   * conditions or optimistic reads.
   */
  readonly nodes?: readonly RedisSource[] | undefined;
  /** Stands before every key in Redis. @default 'lock:' */
  readonly keyPrefix?: string | undefined;
  /** The bound of a command, and of a call that never reached the queue; `restore` may take two. @default '2s' */
  readonly commandTimeout?: Duration | undefined;
  /** How long a waiting call survives an outage of Redis, within its `wait`. @default '30s' */
  readonly outageWait?: Duration | undefined;
  /**
   * How long a shutdown lets running code keep its locks, counted from the first shutdown hook: they are renewed until
   * the code ends. What is left then is told (`lease.signal`, reason `shutdown`), given back and named in the log.
   * From 0 to 1 hour; keep it below the time that the platform gives the process. With 0, what is still held is given
   * back as soon as Nest has closed its connections. In `nest-redis-lock/testing` it is 0 unless told otherwise.
   * @default '10s'
   */
  readonly shutdownGrace?: Duration | undefined;
  readonly limits?: LockLimits | undefined;
  /** Grants and renewals count only when so many replicas have them. Each costs a WAIT. */
  readonly replicas?: ReplicaOptions | undefined;
  /**
   * What to do about a Redis that can forget locks: evicting keys, without an append-only file, replicated without
   * confirmation. `'warn'` says so at start-up. `'refuse'` does not start where keys are evicted or a failover can
   * leave two primaries, and grants nothing for one `ttl` after a server was started or promoted.
   * @default 'warn'
   */
  readonly durability?: 'ignore' | 'warn' | 'refuse' | undefined;
  /**
   * `'local'`: the callers of a process share one place in the queue and pass the lock on in memory, for
   * 10 ms at most; then other processes have their turn. `'strict'`: each caller has a place of its own, and all of
   * all processes are served in the order in which they came. A process that has no connection when the lock is
   * released is passed over then; its callers keep their places.
   * @default 'local'
   */
  readonly fairness?: 'local' | 'strict' | undefined;
  /**
   * Watches, in this process, for locks that are taken one inside the other in opposite orders: two callers who do so
   * at once wait for each other. `'warn'` logs the stacks of both calls, once; `'throw'` refuses the call with a
   * `LockOrderError`. Sees what `withLock`, decorators and `lease.run` hold. It remembers keys and stacks: for tests
   * and staging. In `nest-redis-lock/testing` it warns unless told otherwise.
   * @default 'ignore'
   */
  readonly lockOrder?: 'ignore' | 'warn' | 'throw' | undefined;
  /**
   * Clients of the SETNX articles use these locks too: what stands at a lock's name begins with a time to come, which
   * those of them respect that read the beginning of a text as a number (Ruby, PHP, JavaScript's `parseFloat`), and what
   * they left there without a time to live is taken over when it is past. Such a client that reads the whole text or
   * nothing (Python's `float`, JavaScript's `Number`) needs dialect `plain` with its `guard`. What that one asks of
   * clients, it asks here too.
   */
  readonly guard?: 'timestamp' | undefined;
  /** Connect at the first call instead of at start-up. @default false */
  readonly lazyConnect?: boolean | undefined;
}

/** {@link RedisLockOptions} checked, in ms, without gaps. */
export interface ModuleSettings {
  readonly redis: CheckedSource;
  /** The servers of a quorum, which stand for `redis` then. */
  readonly nodes: readonly CheckedSource[] | undefined;
  readonly keyPrefix: string;
  readonly call: CallSettings;
  readonly commandTimeout: number;
  readonly outageWait: number;
  readonly shutdownGrace: number;
  readonly replicas: ReplicaSettings | undefined;
  readonly durability: 'ignore' | 'warn' | 'refuse';
  readonly limits: LimitSettings;
  readonly fairness: 'local' | 'strict';
  readonly lockOrder: 'ignore' | 'warn' | 'throw';
  readonly guard: boolean;
  readonly lazyConnect: boolean;
}

export const MODULE_DEFAULTS = {
  redis: 'redis://127.0.0.1:6379',
  keyPrefix: 'lock:',
  commandTimeout: 2_000,
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
  const keyPrefix = affix('"keyPrefix"', options.keyPrefix ?? MODULE_DEFAULTS.keyPrefix);
  const redis = redisSource('"redis"', options.redis ?? MODULE_DEFAULTS.redis);
  const lazyConnect = word('lazyConnect', options, [true, false]);
  const fairness = word('fairness', options, ['local', 'strict']);
  const lockOrder = word('lockOrder', options, ['ignore', 'warn', 'throw']);
  const call = callSettings(options, CALL_DEFAULTS, [
    ...Object.keys(MODULE_DEFAULTS),
    'nodes',
    'replicas',
    'guard',
  ]);
  if (call.dialect) checkStore(call.dialect, options);
  const commandTimeout = milliseconds(
    'commandTimeout',
    options.commandTimeout ?? MODULE_DEFAULTS.commandTimeout,
    { min: 50, max: 60_000 },
  );
  const durability = word('durability', options, ['ignore', 'warn', 'refuse']);
  return {
    redis,
    nodes: nodes(options),
    replicas: replicaSettings(options, call, commandTimeout),
    durability,
    keyPrefix,
    call,
    commandTimeout,
    outageWait: milliseconds('outageWait', options.outageWait ?? MODULE_DEFAULTS.outageWait, {
      min: 0,
      max: Infinity,
    }),
    shutdownGrace: milliseconds(
      'shutdownGrace',
      options.shutdownGrace ?? MODULE_DEFAULTS.shutdownGrace,
      { min: 0, max: 3_600_000 },
    ),
    limits: limitSettings(options.limits ?? {}),
    fairness,
    lockOrder,
    guard: guard(options),
    lazyConnect,
  };
}

/** What an option that takes some words says. */
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

function guard({ guard: given, nodes: servers }: RedisLockOptions): boolean {
  if (given === undefined) return false;
  oneOf('"guard"', given, ['timestamp']);
  if (servers === undefined) return true;
  throw new LockOptionsError(
    'Options "guard" and "nodes" exclude each other: clients of the SETNX articles lock on one Redis.',
  );
}
