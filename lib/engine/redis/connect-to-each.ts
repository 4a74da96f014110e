import type { CheckedSource, Clock, ModuleSettings } from '../options/index.js';
import { ClusterSource } from './cluster/cluster-source.js';
import { type Address, SlotMap } from './cluster/slot-map.js';
import { firstOf } from './cluster/topology.js';
import { waitUntilReady } from './wait-until-ready.js';
import { addressOf, openConnection, type ServerSource } from './open-connection.js';
import type { RedisConnection } from './redis-connection.js';

/** A server that is to keep locks: connected but not checked, or the reason why it cannot be reached. */
export type FoundServer =
  | { readonly address: string; readonly connection: RedisConnection }
  | { readonly address: string; readonly error: Error };

/** The servers that a source leads to. */
export interface FoundServers {
  readonly servers: readonly FoundServer[];
  /** How many slots of a Cluster have no primary; 0 for a single Redis. */
  readonly unservedSlots: number;
}

type Timeouts = Pick<ModuleSettings, 'commandTimeout' | 'connectTimeout'>;

/**
 * Connects to the Redis to which `source` points, or to each primary of the Cluster, without further checks.
 * @throws LockStoreError in bounded time if nothing answers; nothing stays open then.
 */
export async function connectToEach(
  source: CheckedSource,
  { commandTimeout, connectTimeout }: Timeouts,
  clock: Clock,
): Promise<FoundServers> {
  const cluster = ClusterSource.of(source);
  if (cluster) {
    return connectToCluster(cluster, (address) =>
      cluster.connection(address, commandTimeout, clock, connectTimeout),
    );
  }
  const server = source as ServerSource;
  const connection = openConnection(server, commandTimeout, clock, connectTimeout);
  await ready(connection);
  return { servers: [{ address: addressOf(connection.client), connection }], unservedSlots: 0 };
}

async function connectToCluster(
  { seeds, mapped }: ClusterSource,
  connect: (address: Address) => RedisConnection,
): Promise<FoundServers> {
  const asked = seeds.map((seed) => ({ seed, connection: connect(seed) }));
  const maps = asked.map(async ({ seed, connection }) => {
    await waitUntilReady(connection);
    return SlotMap.read(await connection.send('cluster', ['slots']), seed, mapped);
  });
  const map = await firstOf(maps).finally(() => {
    for (const { connection } of asked) connection.close();
  });
  const found = map.addresses.map((address) =>
    ready(connect(address)).then(
      (connection): FoundServer => ({ address, connection }),
      (error: Error): FoundServer => ({ address, error }),
    ),
  );
  return { servers: await Promise.all(found), unservedSlots: map.unserved };
}

/** Resolves to the connection once it can be used; closes it if that fails. */
async function ready(connection: RedisConnection): Promise<RedisConnection> {
  try {
    await waitUntilReady(connection);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}
