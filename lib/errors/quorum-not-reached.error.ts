import { LockStoreError } from './lock-store.error.js';

/** How the nodes of a quorum answered. */
export interface QuorumVotes {
  readonly nodes: number;
  readonly granted: number;
  /** Answered, and voted for another or for nobody. */
  readonly denied: number;
  /** Not connected, failed, or did not answer before that was decided. */
  readonly failed: number;
}

/** Too few nodes of a quorum answered. Says nothing about who holds the lock. */
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
