import { LockStoreError } from './lock-store.error.js';

/** How many replicas were asked for, and how many had it within the time-out in ms. */
export interface ReplicaCount {
  readonly acks: number;
  readonly reached: number;
  readonly timeout: number;
}

/** Too few replicas confirmed a grant or a renewal: the next failover could lose it, so it does not count. */
export class ReplicasNotReachedError extends LockStoreError {
  override readonly code = 'REPLICAS_NOT_REACHED';

  constructor(
    key: string | undefined,
    readonly replicas: ReplicaCount,
  ) {
    const { acks, reached, timeout } = replicas;
    const subject = key === undefined ? 'Locks were' : `Lock "${key}" was`;
    super(
      `${subject} not confirmed: ${reached} of the ${acks} replicas that option "replicas" asks for had it within ${timeout} ms. Check the replicas of this Redis.`,
      { key },
    );
  }
}
