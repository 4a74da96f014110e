import { LockError, type LockErrorDetails } from './lock.error.js';

/**
 * The outcome of a command that failed: `unsent`, it never left this process; `refused`, the server answered with an error;
 * `unknown`, it may have run, or may still run.
 * @internal
 */
export type CommandOutcome = 'unsent' | 'refused' | 'unknown';

/** Redis failed or did not answer. The error says nothing about who holds the lock. */
export class LockStoreError extends LockError {
  readonly code: 'LOCK_STORE' | 'QUORUM_NOT_REACHED' | 'REPLICAS_NOT_REACHED' = 'LOCK_STORE';
  /** @internal */
  readonly outcome: CommandOutcome;
  /** False when a retry cannot help: wrong password, missing rights. */
  readonly retryable: boolean;

  constructor(
    message: string,
    details: LockErrorDetails & {
      /** @internal */
      outcome?: CommandOutcome;
      retryable?: boolean;
    } = {},
  ) {
    super(message, details);
    this.outcome = details.outcome ?? 'unknown';
    this.retryable = details.retryable ?? true;
  }
}

/** The answers of a quorum's nodes, counted. */
export interface QuorumVotes {
  readonly nodes: number;
  readonly granted: number;
  /** Nodes that answered, and voted for another caller or for nobody. */
  readonly denied: number;
  /** Nodes that were not connected, failed, or did not answer before the decision. */
  readonly failed: number;
}

/** Too few nodes of a quorum answered. The error says nothing about who holds the lock. */
export class QuorumNotReachedError extends LockStoreError {
  override readonly code = 'QUORUM_NOT_REACHED';

  constructor(
    key: string | undefined,
    readonly votes: QuorumVotes,
  ) {
    const { nodes, granted, denied, failed } = votes;
    const subject = key === undefined ? 'The quorum' : `The quorum for lock "${key}"`;
    const needed = Math.floor(nodes / 2) + 1;
    super(
      `${subject} was not reached: ${needed} of ${nodes} nodes must answer. Votes: ${granted} granted, ${denied} denied, ${failed} failed or without an answer. Check the servers in option "nodes".`,
      { key },
    );
  }
}

/** How many replicas confirmed a grant or a renewal. */
export interface ReplicaCount {
  /** How many replicas option `replicas` asks for. */
  readonly acks: number;
  /** How many replicas had the command within `timeout`. */
  readonly reached: number;
  /** How long Redis waited for the replicas, in ms. */
  readonly timeout: number;
}

/** Too few replicas confirmed a grant or a renewal, which therefore does not count: the next failover could lose it. */
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
