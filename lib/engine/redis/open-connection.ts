import { type Cluster, Redis, type RedisOptions } from 'ioredis';
import type { Socket } from 'node:net';
import { LockOptionsError } from '../errors/index.js';
import {
  type CheckedSource,
  type Clock,
  DEFAULT_SOURCE,
  type RedisClusterOptions,
} from '../options/index.js';
import { pauseBefore, QuietSentinels, watched } from './ioredis-workarounds.js';
import { RedisConnection } from './redis-connection.js';

/**
 * What our connections need whatever the application's client is set to: nothing queued or sent again behind our back,
 * no time-outs but ours, no INFO that a user may not read, no prefix added to half of the names, no stream of others'
 * commands, a return after every outage, and no timer that outlives us by the 2 s which ioredis gives a closed socket.
 */
const OURS = {
  lazyConnect: true,
  monitor: false,
  commandTimeout: undefined,
  socketTimeout: undefined,
  keepAlive: 10_000,
  enableReadyCheck: false,
  disableClientInfo: true, // a server with too many clients says so to the first command alone: to one of ours
  disconnectTimeout: 100, // ioredis would hold on to a half-open connection for 2 s
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  maxRetriesPerRequest: null,
  enableAutoPipelining: false,
  keyPrefix: '',
  stringNumbers: false,
  retryStrategy: pauseBefore,
};

/**
 * The same where Sentinels say who the primary is: they are asked for ever, none of them for longer than a
 * connection may take, and each switch of the primary replaces our connections at once.
 */
const OURS_BY_SENTINELS: RedisOptions = {
  role: 'master',
  failoverDetector: true,
  sentinelRetryStrategy: pauseBefore,
  sentinelReconnectStrategy: pauseBefore,
  Connector: QuietSentinels as never,
};

/** Clients that go to where no option points. */
const byDefault = new WeakSet<Redis>();

/** The primary that a client was connected to last, of those that ask Sentinels for it. */
const primaries = new WeakMap<Redis, string>();

/** Where one Redis is. */
export type ServerSource = Exclude<CheckedSource, Cluster | RedisClusterOptions>;

/**
 * A connection of our own to where `source` points, not connected yet; the application's client is copied, never used.
 * @throws LockOptionsError where ioredis refuses the options; its own error may show them.
 */
export function openConnection(
  source: ServerSource,
  timeout: number,
  clock: Clock,
  connectTimeout?: number,
): RedisConnection {
  const client = watched(openClient(source, timeout), timeout, clock);
  if (client.options.sentinels) {
    client.on('connect', () => {
      const { remoteAddress, remotePort } = client.stream as Socket;
      primaries.set(client, ` (${remoteAddress}:${remotePort})`);
    });
  }
  return new RedisConnection(client, timeout, clock, connectTimeout);
}

function openClient(source: ServerSource, timeout: number): Redis {
  const theirs = isClient(source) ? source.options : source;
  const options = {
    ...theirs,
    ...OURS,
    ...(theirs.sentinels && OURS_BY_SENTINELS),
    connectTimeout: timeout,
    sentinelCommandTimeout: timeout,
  } as RedisOptions;
  try {
    if (isClient(source)) return source.duplicate(options);
    const client = new Redis(options);
    if (source === DEFAULT_SOURCE) byDefault.add(client);
    return client;
  } catch {
    throw new LockOptionsError(
      'ioredis refuses the options in "redis" or "nodes": compare them with its RedisOptions.',
    );
  }
}

/** The prefix the application's client puts before its keys: our keys stand behind it too. */
export function prefixOf(source: CheckedSource): string {
  const options = isClient(source) ? source.options : source;
  const prefix = ('keyPrefix' in options && options.keyPrefix) || '';
  if (!/[{}]/.test(String(prefix))) return prefix;
  throw new LockOptionsError(
    'The keyPrefix of the client in option "redis" has a brace: locks would share keys. Give the lock module a client, or options, without it.',
  );
}

/** Where a client connects to, or was connected to last, without user and password. */
export function addressOf(client: Redis): string {
  const { options } = client;
  if (options.path) return options.path;
  if (options.sentinels) return `Sentinel "${options.name}"${primaries.get(client) ?? ''}`;
  return `${options.host}:${options.port}/${options.db ?? 0}`;
}

/** How the error of a start names the server. */
export function serverOf(client: Redis): string {
  const why = byDefault.has(client) ? ' (the default: option "redis" is not set)' : '';
  return `Redis at ${addressOf(client)}${why}`;
}

/** False for a Cluster. */
export function isServer(source: CheckedSource): source is ServerSource {
  return isClient(source) ? !('nodes' in source) : !('cluster' in source);
}

/** By shape, not by class: the application may have another copy of ioredis. */
export function isClient(source: CheckedSource): source is Redis | Cluster {
  return 'duplicate' in source && typeof source.duplicate === 'function';
}
