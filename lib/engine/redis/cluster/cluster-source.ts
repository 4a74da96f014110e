import type { ClusterOptions, RedisOptions } from 'ioredis';
import { LockOptionsError } from '../../errors/index.js';
import { type CheckedSource, type Clock, nodeOptions } from '../../options/index.js';
import { isClient, openConnection } from '../open-connection.js';
import type { RedisConnection } from '../redis-connection.js';
import { type Address, hostAndPort } from './slot-map.js';

type Given = string | number | (RedisOptions & { readonly host?: string; readonly port?: number });

/**
 * The seeds of a Cluster and the options of its connections, from the application's client or options. If the options say
 * nothing of access, the first seed that does counts for all.
 */
export class ClusterSource {
  /** The nodes that are asked first. */
  readonly seeds: readonly Address[];
  readonly #options: RedisOptions;

  private constructor(
    given: readonly Given[],
    options: RedisOptions,
    private readonly natMap: ClusterOptions['natMap'],
  ) {
    if (!Array.isArray(given) || given.length === 0) {
      throw new LockOptionsError('Option "redis": "cluster" takes one or more of the nodes.');
    }
    const seeds = given.map(seed);
    this.seeds = seeds.map(({ address }) => address);
    const access = seeds.find((one) => Object.keys(one.access).length > 0)?.access;
    this.#options = { ...access, ...defined(options) };
  }

  /** Undefined if `source` is no Cluster. @throws LockOptionsError if it names no node, or one without an address. */
  static of(source: CheckedSource): ClusterSource | undefined {
    if (!isClient(source)) {
      if (!('cluster' in source)) return undefined;
      const { cluster, natMap, ...options } = source;
      return new ClusterSource(cluster, options, natMap);
    }
    if (!('nodes' in source)) return undefined;
    const { startupNodes } = source as unknown as { startupNodes: readonly Given[] };
    const { redisOptions = {}, natMap } = source.options;
    return new ClusterSource(startupNodes, redisOptions, natMap);
  }

  /** The address at which this process reaches a node that the Cluster knows by `address`. */
  readonly mapped = (address: Address): Address => {
    const { natMap } = this;
    const found = typeof natMap === 'function' ? natMap(address) : natMap?.[address];
    return found ? `${found.host}:${found.port}` : address;
  };

  connection(
    address: Address,
    timeout: number,
    clock: Clock,
    connectTimeout?: number,
  ): RedisConnection {
    const options = { ...this.#options, ...hostAndPort(address), db: 0 };
    return openConnection(options, timeout, clock, connectTimeout);
  }
}

/** Drops options that are undefined, such as a password from an environment without one. */
function defined(options: RedisOptions): RedisOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

/** The address of a node that the application names, and its access options: user, password and TLS. */
function seed(given: Given): { address: Address; access: RedisOptions } {
  if (typeof given === 'number') return { address: `127.0.0.1:${given}`, access: {} };
  const { host = '127.0.0.1', port = 6379, ...access } = nodeOptions('"redis"', given);
  return { address: `${host}:${port}`, access: defined(access) };
}
