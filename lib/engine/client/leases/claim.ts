import { LockOptionsError, LockStoreError } from '../../errors/index.js';
import type { LockRequest } from '../../locks/lock-request.js';
import type { Clock } from '../../options/index.js';

/**
 * One holder id, and the requests under it that have no answer yet. While there are any, no other caller of this process
 * gets the lease in memory. A request without an answer may still run until its time-out: a caller that gives the id up
 * does so once more after that.
 */
export class Claim {
  /** The last renewal of the lease; undefined before the first. */
  renewal: { readonly underWay: boolean } | undefined;
  /** The request that awaited a condition, if one did. If the grant was forged, it may still stand in the queue. */
  awaited: LockRequest | undefined;
  #steps = 0;
  #asks = 0;
  #latest = -Infinity;
  #uncertainUntil = -Infinity;

  constructor(
    /** The lock that is held, or requested, under the holder id. */
    public request: LockRequest,
    private readonly timeout: number,
    private readonly clock: Clock,
  ) {}

  /** The lock is granted: a request that awaited a condition is an ordinary one from now on. */
  awaitsNoMore(): void {
    const { key, holder, ttl, tokenBlock, format, condition, enqueuedAt } = this.request;
    if (!condition) return;
    this.awaited = { ...this.request, wanted: undefined }; // the function `wanted` would keep its queue entry in memory
    this.request = { key, holder, ttl, tokenBlock, format, enqueuedAt };
  }

  /** Whether any request is under way. */
  get any(): boolean {
    return this.renews || this.#steps > 0 || this.#asks > 0;
  }

  /** Whether a renewal is under way. */
  get renews(): boolean {
    return this.renewal !== undefined && this.renewal.underWay;
  }

  /** Runs a step that changes the lease, and changes nothing once the lease is given back. */
  async during<Answer>(step: () => Promise<Answer>): Promise<Answer> {
    this.#steps += 1;
    try {
      return await step();
    } finally {
      this.#steps -= 1;
    }
  }

  /** Counts a request as sent. Returns the present time, in monotonic ms. */
  sent(): number {
    this.#asks += 1;
    return (this.#latest = this.clock.monotonic());
  }

  answered(): void {
    this.#asks -= 1;
  }

  /** The request sent at `at` failed. Returns its outcome; a request of unknown outcome may still run. */
  failed(error: unknown, at: number): LockStoreError['outcome'] {
    const outcome = error instanceof LockStoreError ? error.outcome : 'refused';
    this.#asks -= 1;
    if (outcome === 'unknown') {
      this.#uncertainUntil = Math.max(this.#uncertainUntil, at + this.timeout);
    }
    return outcome;
  }

  /** Whether a request may still take effect; read it before a step that gives the id up, as the request may come later. */
  get isUncertain(): boolean {
    const { uncertainUntil } = this;
    return uncertainUntil > -Infinity && uncertainUntil > this.clock.monotonic();
  }

  /** The last moment at which a request may take effect, in monotonic ms; -Infinity if none can. */
  get uncertainUntil(): number {
    return this.#asks > 0
      ? Math.max(this.#uncertainUntil, this.#latest + this.timeout)
      : this.#uncertainUntil;
  }
}

/** Whether a failed step may have changed something all the same, or may still do so. */
export function mayHaveRun(error: unknown): boolean {
  if (error instanceof LockOptionsError) return false;
  return !(error instanceof LockStoreError) || error.outcome === 'unknown';
}

/** Whether a failed step may succeed when it is tried again. */
export function isRetryable(error: unknown): error is LockStoreError {
  return error instanceof LockStoreError && error.retryable;
}

/** Whether the store refused a step for good: a retry cannot help. */
export function isRefused(error: unknown): error is LockStoreError {
  return error instanceof LockStoreError && !error.retryable;
}
