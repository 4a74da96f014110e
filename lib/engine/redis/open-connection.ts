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
 * The settings of the library's own connections, whatever the application's client has. ioredis queues, repeats and times
 * out no command. It sends no INFO, which the user may not read; it adds no prefix and takes no MONITOR stream. A
 * connection comes back after every outage, and closing it leaves no timer for 2 s.
 */
const OURS = {
  lazyConnect: true,
  monitor: false,
  commandTimeout: undefined,
  socketTimeout: undefined,
  keepAlive: 10_000,
  enableReadyCheck: false,
  disableClientInfo: true, // a server with too many clients answers only the first command, which must be ours
  disconnectTimeout: 100, // by default ioredis holds on to a half-open connection for 2 s
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  autoResubscribe: false,
  maxRetriesPerRequest: null,
  enableAutoPipelining: false,
  keyPrefix: '',
  stringNumbers: false,
  replyMapping: 'legacy', // ioredis 6 would make an object of what a Cluster says of a node
  retryStrategy: pauseBefore,
};

/**
 * The further settings with Sentinels. They are asked for ever, each for no longer than a connection may take. A switch of
 * the primary replaces the connections at once.
 */
const OURS_BY_SENTINELS: RedisOptions = {
  role: 'master',
  failoverDetector: true,
  sentinelRetryStrategy: pauseBefore,
  sentinelReconnectStrategy: pauseBefore,
  Connector: QuietSentinels as never,
};

/** Clients of the default address, which no option named. */
const byDefault = new WeakSet<Redis>();

/** The last primary of each client that asks Sentinels for it. */
const primaries = new WeakMap<Redis, string>();

/** The source of a single Redis. */
export type ServerSource = Exclude<CheckedSource, Cluster | RedisClusterOptions>;

/**
 * Makes a connection to `source`, not connected yet; the application's client is copied, never used.
 * @throws LockOptionsError if ioredis refuses the options; the error of ioredis may show them.
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
    enableTLSForSentinelMode: theirs.enableTLSForSentinelMode ?? true, // ioredis would send the password in plain text beside `tls`
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

/** The key prefix of the application's client: the library's keys stand behind it too. */
export function prefixOf(source: CheckedSource): string {
  const options = isClient(source) ? source.options : source;
  const prefix = ('keyPrefix' in options && options.keyPrefix) || '';
  if (!/[{}]/.test(String(prefix))) return prefix;
  throw new LockOptionsError(
    'The keyPrefix of the client in option "redis" has a brace: locks would share keys. Give the lock module a client, or options, without it.',
  );
}

/** The address to which a client connects, or was connected last, without user and password. */
export function addressOf(client: Redis): string {
  const { options } = client;
  if (options.path) return options.path;
  if (options.sentinels) return `Sentinel "${options.name}"${primaries.get(client) ?? ''}`;
  return `${options.host}:${options.port}/${options.db ?? 0}`;
}

/** The name of the server in the error of a start. */
export function serverOf(client: Redis): string {
  const why = byDefault.has(client) ? ' (the default: option "redis" is not set)' : '';
  return `Redis at ${addressOf(client)}${why}`;
}

/** Whether the source is a single Redis, not a Cluster. */
export function isServer(source: CheckedSource): source is ServerSource {
  return isClient(source) ? !('nodes' in source) : !('cluster' in source);
}

/** Whether the source is a client, by shape, not by class: the application may have another copy of ioredis. */
export function isClient(source: CheckedSource): source is Redis | Cluster {
  return 'duplicate' in source && typeof source.duplicate === 'function';
}
