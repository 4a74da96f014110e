import { LockOptionsError, LockStoreError } from '../errors/index.js';
import type { LockRequest } from '../locks/lock-request.js';
import type { Clock } from '../options/index.js';

/**
 * One holder id, and what was sent under it and has no answer yet. While there is anything, no other caller of this process
 * gets the lease in memory. An ask without an answer may still run until its time-out: a caller that gives the id up
 * gives it up once more after that.
 */
export class Claim {
  /** The last renewal. */
  renewal: { readonly underWay: boolean } | undefined;
  /** What it awaited a condition as, if it did: that may still stand in the queue, where the grant was forged. */
  awaited: LockRequest | undefined;
  #steps = 0;
  #asks = 0;
  #latest = -Infinity;
  #uncertainUntil = -Infinity;

  constructor(
    /** What stands under the id, or is asked for. */
    public request: LockRequest,
    private readonly timeout: number,
    private readonly clock: Clock,
  ) {}

  /** It is granted: what awaited a condition is a lock like any other from now on. */
  awaitsNoMore(): void {
    const { key, holder, ttl, tokenBlock, condition } = this.request;
    if (!condition) return;
    this.awaited = { ...this.request, wanted: undefined }; // that would keep what it awaited with
    this.request = { key, holder, ttl, tokenBlock };
  }

  /** Whether anything is under way. */
  get any(): boolean {
    return this.renews || this.#steps > 0 || this.#asks > 0;
  }

  /** Whether a renewal is under way. */
  get renews(): boolean {
    return this.renewal !== undefined && this.renewal.underWay;
  }

  /** A step that changes the lease, and nothing once the lease is given back. */
  async during<Answer>(step: () => Promise<Answer>): Promise<Answer> {
    this.#steps += 1;
    try {
      return await step();
    } finally {
      this.#steps -= 1;
    }
  }

  /** An ask is sent. Returns when. */
  sent(): number {
    this.#asks += 1;
    return (this.#latest = this.clock.monotonic());
  }

  answered(): void {
    this.#asks -= 1;
  }

  /** The ask sent at `at` failed. Returns what is known of it; where that is nothing, it may still run. */
  failed(error: unknown, at: number): LockStoreError['outcome'] {
    const outcome = error instanceof LockStoreError ? error.outcome : 'refused';
    this.#asks -= 1;
    if (outcome === 'unknown') {
      this.#uncertainUntil = Math.max(this.#uncertainUntil, at + this.timeout);
    }
    return outcome;
  }

  /** Whether an ask may still take effect. Of a step by which the id is given up this is asked before: the ask may run after it. */
  get isUncertain(): boolean {
    const { uncertainUntil } = this;
    return uncertainUntil > -Infinity && uncertainUntil > this.clock.monotonic();
  }

  /** The last moment at which an ask may still take effect; -Infinity if none can. */
  get uncertainUntil(): number {
    return this.#asks > 0
      ? Math.max(this.#uncertainUntil, this.#latest + this.timeout)
      : this.#uncertainUntil;
  }
}

/** Whether a step that failed may have changed something all the same, or may still. */
export function mayHaveRun(error: unknown): boolean {
  if (error instanceof LockOptionsError) return false;
  return !(error instanceof LockStoreError) || error.outcome === 'unknown';
}

/** Whether a step that failed may do better when it is tried again. */
export function isRetryable(error: unknown): error is LockStoreError {
  return error instanceof LockStoreError && error.retryable;
}

/** Whether the store refused a step for good: asking again cannot help. */
export function isRefused(error: unknown): error is LockStoreError {
  return error instanceof LockStoreError && !error.retryable;
}
