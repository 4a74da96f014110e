import { LockStoreError } from '../errors/index.js';
import type { LockRequest } from '../locks/lock-request.js';

/** Since when asks of one line fail, and why the last one did. */
export class Outage {
  failure: LockStoreError | undefined;
  since = 0;

  fails(error: LockStoreError, now: number): void {
    if (!this.failure) this.since = now;
    this.failure = error;
  }

  /** An ask was answered. True if those before had failed. */
  end(): boolean {
    const failed = this.failure !== undefined;
    this.failure = undefined;
    return failed;
  }

  /** A grant came too late to be used. */
  misses({ key, ttl }: LockRequest, now: number): void {
    const message = `Lock "${key}" was granted, but its lease of ${ttl} ms was over before Redis' answer arrived.`;
    this.fails(new LockStoreError(message, { key }), now);
  }
}
