import type { LeaseLostError } from '../errors/index.js';
import { type Duration, POLICY_DEFAULTS } from '../options/index.js';
import { LEASE, type Lease, type LeaseJson } from './lease.js';

/** A stretch of code that runs under a lease. */
export interface OpenSection {
  run<T>(work: () => T): T;
  /** Work that outlives the section is no longer inside it. */
  close(): void;
}

/** What leases on one lock and on several have in common, and what the library asks of them besides. */
export abstract class BaseLease implements Lease {
  get [LEASE](): true {
    return true;
  }

  abstract get keys(): readonly string[];

  get key(): string {
    return this.keys.join(', ');
  }

  abstract get fencingToken(): number;

  abstract fencingTokenOf(key: string): number;

  abstract get expiresAt(): number;

  abstract get signal(): AbortSignal;

  abstract get held(): boolean;

  /** True once it was given back by hand. */
  abstract get returned(): boolean;

  /** Why it is over. */
  abstract lossError(): LeaseLostError;

  assertHeld(): void {
    if (!this.held) throw this.lossError();
  }

  /**
   * Gives back the lease of a body that succeeded, unless the body did so itself.
   * @throws LeaseLostError if the lease was over before, unless that is to be ignored.
   */
  async finish(onLost: 'throw' | 'ignore' = POLICY_DEFAULTS.onLost): Promise<void> {
    const released = await this.release();
    if (!released && onLost !== 'ignore') throw this.lossError();
  }

  async run<T>(work: () => T | PromiseLike<T>): Promise<T> {
    this.assertHeld();
    const section = this.openSection();
    try {
      return await section.run(work);
    } finally {
      section.close();
    }
  }

  abstract extend(ttl?: Duration): Promise<void>;

  abstract downgrade(): Promise<void>;

  /** @throws LockOptionsError where `downgrade` would, for a lease that is held. */
  abstract refuseDowngrade(): void;

  abstract handOver(): Promise<string>;

  /** `unused`: nobody worked under it, so no minimum hold counts. */
  abstract release(unused?: 'unused'): Promise<boolean>;

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }

  /** A section that stays open until it is closed, for work that goes on after a function returned. */
  abstract openSection(lease?: BaseLease): OpenSection;

  abstract toJSON(): LeaseJson;
}
