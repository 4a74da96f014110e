import type { Cluster } from 'ioredis';
import type { RedisSource } from '../../lib/engine/options/index.js';
import type { ClusterProcess } from '../../tools/redis-cluster.js';
import type { Kind } from './kinds.js';
import { RedisWorld } from './redis-world.js';
import type { Wrap } from './world.js';

/** A real Cluster: what is looked at or changed as a whole is done at each of its primaries. */
export class ClusterWorld extends RedisWorld {
  override readonly hearsItself = false;

  constructor(
    kind: Kind,
    wrap: Wrap | undefined,
    where: RedisSource,
    private readonly cluster: Cluster,
    private readonly processes: ClusterProcess,
  ) {
    super(kind, wrap, where, cluster as never, processes.primaries[0]!);
  }

  override async flush(): Promise<void> {
    await Promise.all(this.cluster.nodes('master').map((node) => node.flushall()));
  }

  protected override signal(signal: NodeJS.Signals): void {
    for (const server of this.processes.primaries) server.signal(signal);
  }

  protected override async names(pattern: string): Promise<string[]> {
    const found = this.cluster.nodes('master').map((node) => node.keys(pattern));
    return (await Promise.all(found)).flat();
  }
}
