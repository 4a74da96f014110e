import type { Cluster, Redis, RedisOptions } from 'ioredis';
import { LockOptionsError } from '../errors/index.js';

/** A Redis Cluster: some of its nodes, and ioredis' options for all of its nodes, unless the URL of a node has them. */
export interface RedisClusterOptions extends Omit<RedisOptions, 'natMap'> {
  readonly cluster: readonly (string | { readonly host?: string; readonly port?: number })[];
  /** The address at which this process reaches a node, by the `host:port` that the Cluster knows. */
  readonly natMap?: Readonly<Record<string, { readonly host: string; readonly port: number }>>;
}

/** The address of Redis: a URL, ioredis options, or the application's own client, which is copied and left alone. */
export type RedisSource = string | RedisOptions | RedisClusterOptions | Redis | Cluster;

/** A {@link RedisSource} that was checked; a URL has become options. */
export type CheckedSource = Exclude<RedisSource, string>;

export const DEFAULT_URL = 'redis://127.0.0.1:6379';

const HOST_NAME = /^[\p{L}\p{N}._-]+$/u;
const IPV6 = /^[\da-f]*:[\da-f:.]*(%[\w.-]+)?$/i;
/** Options that may hold any text, and are never shown. */
const SECRET = /password|username|keyPrefix|connectionName|clientInfoTag/i;
/** Options by which other clients are told an address. */
const FOREIGN_OPTIONS = /^(ur[li]|href|socket|rootNodes|token)$/i;
const FORM = 'redis://user:password@host:port/db, or rediss://… for TLS';

/**
 * Checks an option that names a Redis. Errors name the option and the remedy, and show nothing of the value: it may contain
 * a password, also where none belongs.
 * @throws LockOptionsError
 */
export function redisSource(option: string, given: unknown): CheckedSource {
  if (typeof given === 'string') return parseRedisUrl(option, given);
  if (given instanceof URL) {
    throw refusal(option, 'is a URL object. Give the text of it');
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw refusal(
      option,
      'takes a URL (redis://… or rediss://…), ioredis options or an ioredis client',
    );
  }
  const source = given as CheckedSource;
  if (isAnyClient(source)) checkClient(option, source);
  else checkOptions(option, source as RedisOptions);
  if (!('cluster' in source) || source.cluster) return source;
  const { cluster: _, ...server } = source as RedisClusterOptions;
  return server as RedisOptions;
}

/**
 * The options that a URL stands for, as ioredis reads it. ioredis itself never gets the URL: its errors show the whole of
 * it.
 * @throws LockOptionsError
 */
export function parseRedisUrl(option: string, given: string): RedisOptions {
  const wrong = (what: string): LockOptionsError => refusal(option, `${what}. Write ${FORM}`);
  if (/^(\/|\.\.?\/|(unix|redis\+socket):)/.test(given)) {
    throw refusal(option, "takes no path of a socket as text. Write { path: '/run/redis.sock' }");
  }
  if (!/^rediss?:\/\//.test(given)) {
    throw wrong('takes a URL that begins with redis:// or rediss://');
  }
  let url: URL;
  try {
    url = new URL(given);
  } catch {
    throw wrong(
      'is no URL: its port may be no number, or its user or password not percent-encoded (encodeURIComponent)',
    );
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const more = [...url.searchParams];
  const encoded = 'percent-encode user and password (encodeURIComponent)';
  if (url.hash !== '' || more.some(([name]) => !/^[a-z]\w*$/i.test(name))) {
    throw wrong(`has a # or ? that ends its host: ${encoded}`);
  }
  if (host !== '' && !isHost(host)) {
    throw wrong(`has a host that is neither a name nor an address: ${encoded}`);
  }
  if (!/^\/?\d*$/.test(url.pathname)) {
    throw wrong(`has a path that is no number of a database: ${encoded}`);
  }
  let options: RedisOptions;
  try {
    options = {
      ...Object.fromEntries(more),
      ...(url.searchParams.has('family') && { family: Number(url.searchParams.get('family')) }),
      ...(given.startsWith('rediss:') && { tls: {} }),
      ...(url.username && { username: decodeURIComponent(url.username) }),
      ...(url.password && { password: decodeURIComponent(url.password) }),
      ...(host && { host }),
      ...(url.port && { port: Number(url.port) }),
      ...(url.pathname.length > 1 && { db: Number(url.pathname.slice(1)) }),
    };
  } catch {
    throw wrong(`has a % that encodes nothing: ${encoded}`);
  }
  checkOptions(option, options);
  return options;
}

/** Whether a value is a client of any library: ioredis, node-redis, @upstash/redis or ioredis-mock. */
function isAnyClient(source: object): source is Redis | Cluster {
  const { duplicate, get } = source as { duplicate?: unknown; get?: unknown };
  return typeof duplicate === 'function' || typeof get === 'function';
}

function checkClient(option: string, client: Redis | Cluster): void {
  if (typeof client.status !== 'string') {
    throw refusal(
      option,
      'is a client, and none of ioredis. Give the URL, or for a test without Redis take memoryLockService() of "nest-redis-lock/testing"',
    );
  }
  if (!('nodes' in client)) return checkOptions(option, client.options);
  const { startupNodes } = client as unknown as { startupNodes?: readonly unknown[] };
  if (startupNodes) checkEach(option, 'nodes', startupNodes, checkNode);
  const { redisOptions, natMap } = client.options;
  if (redisOptions) checkOptions(option, redisOptions);
  checkNatMap(option, natMap);
}

function checkOptions(option: string, options: RedisOptions | RedisClusterOptions): void {
  for (const [name, value] of Object.entries(options)) {
    if (FOREIGN_OPTIONS.test(name)) {
      const remedy = 'Give the URL alone, or host and port';
      throw refusal(option, `has "${name}", which ioredis does not know. ${remedy}`);
    }
    if (typeof value === 'string' && value.includes('://') && !SECRET.test(name)) {
      throw refusal(option, `has a URL in "${name}". Give the URL alone, or its parts`);
    }
  }
  checkPlace(option, options);
  if ('sentinels' in options) checkEach(option, 'sentinels', options.sentinels);
  if ('cluster' in options) checkEach(option, 'cluster', options.cluster, checkNode);
  checkNatMap(option, options.natMap);
}

function checkNatMap(option: string, natMap: unknown): void {
  if (typeof natMap !== 'object' || natMap === null) return;
  for (const place of Object.values(natMap) as Partial<Pick<RedisOptions, 'host' | 'port'>>[]) {
    checkPlace(option, place);
    if (!place.host || !place.port) {
      throw refusal(option, 'has a place in "natMap" without "host" or "port"');
    }
  }
}

function checkEach(option: string, name: string, list: unknown, check = checkPlace): void {
  if (list === undefined || list === null) return;
  if (!Array.isArray(list) || list.length === 0) {
    throw refusal(option, `takes one or more of the nodes in "${name}"`);
  }
  for (const one of list) check(option, one as RedisOptions);
}

/** Checks one of the nodes of a Cluster that are asked first. */
function checkNode(option: string, node: unknown): void {
  if (typeof node !== 'number') checkPlace(option, nodeOptions(option, node as RedisOptions));
}

/** The options of a Cluster's node, which may be a URL or host:port. @throws LockOptionsError */
export function nodeOptions(option: string, node: string | RedisOptions): RedisOptions {
  if (typeof node !== 'string') return node;
  const url = node.includes('://') ? node : `redis://${node}`;
  return parseRedisUrl(`${option}: a node of "cluster"`, url);
}

/** Checks a host, a port and a database. */
function checkPlace(option: string, place: RedisOptions): void {
  if (typeof place !== 'object' || place === null) {
    throw refusal(option, 'takes a node as { host, port }');
  }
  const { host, port, db } = place as { host?: unknown; port?: unknown; db?: unknown };
  if (host !== undefined && host !== null && !isHost(host)) {
    throw refusal(option, 'has a "host" that is neither a name nor an address');
  }
  if (!isCount(port, 65_535)) throw refusal(option, 'has a "port" that is no number of a port');
  if (!isCount(db, Infinity)) throw refusal(option, 'has a "db" that is no number of a database');
}

function isHost(given: unknown): boolean {
  return typeof given === 'string' && (HOST_NAME.test(given) || IPV6.test(given));
}

function isCount(given: unknown, most: number): boolean {
  if (given === undefined || given === null) return true;
  const count = typeof given === 'string' && /^\d+$/.test(given) ? Number(given) : given;
  return Number.isInteger(count) && (count as number) >= 0 && (count as number) <= most;
}

function refusal(option: string, what: string): LockOptionsError {
  return new LockOptionsError(`Option ${option} ${what}.`);
}

/** The address of Redis if option "redis" does not say it. */
export const DEFAULT_SOURCE: CheckedSource = parseRedisUrl('"redis"', DEFAULT_URL);
