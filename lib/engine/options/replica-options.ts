import { LockOptionsError } from '../errors/index.js';
import type { CallSettings } from './call-options.js';
import { type Duration, milliseconds } from './duration.js';
import { refuseOthers } from './option-checks.js';

/** How many replicas of Redis must confirm a grant or a renewal before it counts. */
export interface ReplicaOptions {
  /** Number of replicas, from 1 to 100. Best: all replicas that may be promoted, less those that may be down. */
  readonly acks: number;
  /**
   * How long a grant or a renewal waits for the replicas (`WAIT`). At most a third of `ttl` and half of `commandTimeout`.
   * Default: '500ms', or less where these bounds are lower.
   */
  readonly timeout?: Duration | undefined;
}

/** {@link ReplicaOptions} checked, in ms. */
export interface ReplicaSettings {
  readonly acks: number;
  readonly timeout: number;
}

/** The default time-out, in ms; shorter if its bounds are lower. */
const TIMEOUT = 500;

/** @throws LockOptionsError if no lease could be confirmed in time. */
export function replicaSettings(
  { replicas, nodes }: { replicas?: ReplicaOptions | undefined; nodes?: unknown },
  { ttl }: Pick<CallSettings, 'ttl'>,
  commandTimeout: number,
): ReplicaSettings | undefined {
  if (replicas === undefined) return undefined;
  if (nodes !== undefined) {
    throw new LockOptionsError(
      'Options "replicas" and "nodes" exclude each other: a majority of servers confirms there.',
    );
  }
  if (typeof replicas !== 'object' || replicas === null) {
    throw new LockOptionsError('Option "replicas" takes { acks, timeout }.');
  }
  const { acks, timeout: given, ...others } = replicas;
  refuseOthers(others, (other) => `Option "replicas" has no "${other}".`);
  if (!Number.isSafeInteger(acks) || acks < 1 || acks > 100) {
    throw new LockOptionsError('Option "replicas.acks" takes a whole number from 1 to 100.');
  }
  const [longest, of] =
    ttl / 3 < commandTimeout / 2
      ? [ttl / 3, 'a third of "ttl"']
      : [commandTimeout / 2, 'half of "commandTimeout"'];
  const timeout = milliseconds(
    'replicas.timeout',
    given ?? Math.min(TIMEOUT, Math.floor(longest)),
    { min: 10, max: 10_000 },
  );
  if (timeout > longest) {
    throw new LockOptionsError(
      `Option "replicas.timeout" (${timeout} ms) is longer than ${of}: set it to ${Math.floor(longest)} ms or less.`,
    );
  }
  return { acks, timeout };
}
