import type { Redis, RedisOptions } from 'ioredis';
import type { RedisSource } from '../../options/index.js';
import { isClient, openClient } from '../open-client.js';
import { type Address, hostAndPort } from './slot-map.js';

type Seed = string | number | { readonly host?: string; readonly port?: number };

/** Where a Cluster is, taken from the application's client or options, and how its nodes are spoken to. */
export class ClusterSource {
  private constructor(
    private readonly startupNodes: readonly Seed[],
    private readonly options: RedisOptions,
    private readonly natMap: unknown,
  ) {}

  /** Undefined if `source` is no Cluster. */
  static of(source: RedisSource): ClusterSource | undefined {
    if (typeof source === 'string') return undefined;
    if (!isClient(source)) {
      if (!('cluster' in source)) return undefined;
      const { cluster, natMap, ...options } = source;
      return new ClusterSource(cluster, options, natMap);
    }
    if (!('nodes' in source)) return undefined;
    const { startupNodes } = source as unknown as { startupNodes: readonly Seed[] };
    const { redisOptions = {}, natMap } = source.options;
    const { commandTimeout: _, ...options } = redisOptions as RedisOptions;
    return new ClusterSource(startupNodes, options, natMap);
  }

  /** Where one may ask first. */
  get seeds(): Address[] {
    return this.startupNodes.map((seed) => {
      if (typeof seed === 'number') return `127.0.0.1:${seed}`;
      if (typeof seed === 'object') return `${seed.host ?? '127.0.0.1'}:${seed.port ?? 6379}`;
      const { hostname, port } = new URL(seed.includes('://') ? seed : `redis://${seed}`);
      return `${hostname.replace(/^\[|\]$/g, '')}:${port || 6379}`;
    });
  }

  /** Where this process reaches the node that the Cluster knows by this address. */
  readonly mapped = (address: Address): Address => {
    const { natMap } = this;
    const found = (
      typeof natMap === 'function'
        ? natMap(address)
        : (natMap as Record<string, unknown> | undefined)?.[address]
    ) as { host: string; port: number } | undefined;
    return found ? `${found.host}:${found.port}` : address;
  };

  client(address: Address, connectTimeout: number): Redis {
    return openClient({ ...this.options, ...hostAndPort(address), db: 0 }, connectTimeout);
  }
}
