import type { ClusterSource } from '../../lib/engine/redis/cluster/cluster-source.js';
import { RedisConnection } from '../../lib/engine/redis/redis-connection.js';
import type { Clock } from '../../lib/engine/options/index.js';
import { FakeRedis } from '../support/fake-redis.js';

const INFO = 'redis_version:7.2.0\r\nredis_mode:cluster\r\nrole:master\r\n';

/** The nodes of a Cluster as fakes: a:1 has all slots and nobody can connect to c:3, until a test says otherwise. */
export class FakeCluster {
  /** What a node says of who has which slot, by its address; else that a:1 has all. */
  slots: Record<string, unknown> = {};
  /** The node that nobody can connect to. */
  away: string | undefined = 'c:3';
  /** How long it may take to connect to a node, in ms. */
  connectTimeout: number | undefined;
  /** Where this process reaches what the Cluster knows by another address. */
  natMap: Record<string, string> = {};
  /** Called with the name of each command, before a node answers it. */
  meets: (name: string) => unknown = () => {};
  /** Where each connection goes. */
  readonly places = new Map<unknown, string>();
  /** The first connection to each node, which is for commands. */
  readonly made = new Map<string, FakeRedis>();

  constructor(private readonly clock: Clock) {}

  /** As who was given these nodes sees it. */
  source(seeds: readonly string[]): ClusterSource {
    const connection = (address: string): RedisConnection => {
      const { client } = address === this.away ? this.#unreachable(address) : this.#node(address);
      return new RedisConnection(client, 500, this.clock, this.connectTimeout);
    };
    const mapped = (address: string): string => this.natMap[address] ?? address;
    return { seeds, mapped, connection } as unknown as ClusterSource;
  }

  #node(address: string): FakeRedis {
    const redis = new FakeRedis((name) => {
      this.meets(name);
      if (name === 'info') return INFO;
      if (name === 'evalsha') return 'OK';
      if (name === 'time' || name === 'eval') return ['2000', '250000'];
      if (name === 'subscribe' || name === 'publish') return 1;
      if (name === 'scan') return ['0', []];
      if (name !== 'cluster') return undefined;
      return address in this.slots ? this.slots[address] : [[0, 16_383, ['a', 1, 'id']]];
    });
    redis.status = 'wait';
    this.places.set(redis.client, address);
    if (!this.made.has(address)) this.made.set(address, redis);
    return redis;
  }

  /** One that nobody connects to. */
  #unreachable(address: string): FakeRedis {
    const redis = this.#node(address);
    redis.connect = async () => {};
    return redis;
  }
}
