import type { CheckedSource, Clock } from '../options/index.js';
import { ClusterSource } from './cluster/cluster-source.js';
import { RedisCluster } from './cluster/redis-cluster.js';
import type { LockServer } from './lock-server.js';
import type { ServerSource } from './open-connection.js';
import { RedisServer } from './redis-server.js';
import type { ServerChecks } from './server-check.js';

/** The Redis, or the Cluster, to which `source` points. */
export function lockServer(
  source: CheckedSource,
  timeout: number,
  time: Clock,
  inboxPrefix: string,
  processId: string,
  checks: ServerChecks = {},
): LockServer {
  const cluster = ClusterSource.of(source);
  return cluster
    ? new RedisCluster(cluster, timeout, time, inboxPrefix, processId, checks)
    : new RedisServer(source as ServerSource, timeout, time, inboxPrefix, processId, checks);
}
