import { LockError, type LockErrorDetails } from './lock.error.js';

/**
 * What is known of a command that failed: `unsent`, it never left this process; `refused`, the
 * server answered with an error; `unknown`, it may have run, or may still.
 */
export type CommandOutcome = 'unsent' | 'refused' | 'unknown';

/** Redis failed or did not answer. Says nothing about who holds the lock. */
export class LockStoreError extends LockError {
  readonly code: 'LOCK_STORE' | 'QUORUM_NOT_REACHED' | 'REPLICAS_NOT_REACHED' = 'LOCK_STORE';
  /** @internal */
  readonly outcome: CommandOutcome;
  /** False when asking again cannot help: wrong password, missing rights. */
  readonly retryable: boolean;

  constructor(
    message: string,
    details: LockErrorDetails & { outcome?: CommandOutcome; retryable?: boolean } = {},
  ) {
    super(message, details);
    this.outcome = details.outcome ?? 'unknown';
    this.retryable = details.retryable ?? true;
  }
}
