import { type LeaseLostError, LockOptionsError } from '../errors/index.js';
import type { AcquireTrace } from '../events/index.js';
import {
  type CallSettings,
  type Clock,
  type Duration,
  throwIfAborted,
  TTL_BOUNDS,
} from '../options/index.js';
import type { HeldLock } from './held-lock.js';
import type { HeldLocks } from './held-locks.js';
import { BaseLease, type LeaseJson } from './lease.js';
import { Section } from './section.js';

/** A lease on one lock: what a grant brought, or one more hold on it by re-entry. */
export class SingleLease extends BaseLease {
  readonly #heldLocks: HeldLocks;
  #held: HeldLock;
  readonly #leaveTurn: (() => void) | undefined;
  #released: Promise<boolean> | undefined;

  constructor(
    heldLocks: HeldLocks,
    heldLock: HeldLock,
    readonly waited: number,
    /** Of one that stands on the lock already, by re-entry. */
    leaveTurn?: () => void,
  ) {
    super();
    this.#heldLocks = heldLocks;
    this.#held = heldLock;
    this.#leaveTurn = leaveTurn;
    if (!leaveTurn) heldLock.hold();
  }

  /** What a lease stands on. No property of it: the holder id in there is a secret that no log may show. */
  static heldLockOf(lease: SingleLease): HeldLock {
    return lease.#heldLock;
  }

  /** Whether it was granted to this process on that store: elsewhere nobody knows what it stands on. */
  static isOf(heldLocks: HeldLocks, lease: SingleLease): boolean {
    return lease.#heldLocks === heldLocks;
  }

  /** It is one of several, and all are held: what the call granted begins now. What was entered again goes on as it was. */
  begin(call: CallSettings, waited: number, asked?: AcquireTrace): void {
    if (!this.#leaveTurn) this.#heldLocks.begin(this.#heldLock, call, waited, asked);
  }

  /** Another one after a condition was awaited. */
  get #heldLock(): HeldLock {
    return (this.#held = this.#held.current);
  }

  get keys(): readonly string[] {
    return [this.key];
  }

  override get key(): string {
    return this.#heldLock.request.key;
  }

  get token(): number | undefined {
    return this.#heldLock.fencingToken;
  }

  get fencingToken(): number {
    const { token } = this;
    if (token !== undefined) return token;
    const { dialect } = this.#heldLock.request;
    if (dialect && !dialect.fencing) {
      throw new LockOptionsError(
        `Lock "${this.key}" was taken in dialect "${dialect.name}", which has no fencing tokens.`,
      );
    }
    throw new LockOptionsError(
      `Lock "${this.key}" was taken with "fencing: false": it has no fencing token.`,
    );
  }

  fencingTokenOf(key: string): number {
    if (key === this.key) return this.fencingToken;
    throw new LockOptionsError(`The lease on lock "${this.key}" is none on "${key}".`);
  }

  get expiresAt(): number {
    return Math.floor(this.#heldLock.wallDeadline);
  }

  get signal(): AbortSignal {
    return this.#heldLock.signal;
  }

  get held(): boolean {
    if (this.#released !== undefined) return false;
    const heldLock = this.#heldLock;
    if (heldLock.inDoubt && !heldLock.claim.renews) this.#heldLocks.verify([heldLock]);
    return heldLock.held;
  }

  get returned(): boolean {
    return this.#released !== undefined || this.#heldLock.state === 'released';
  }

  get handedOver(): boolean {
    return this.#heldLock.lossReason === 'transferred';
  }

  lossError(): LeaseLostError {
    return this.#heldLock.lossError(this.returned);
  }

  async extend(ttl?: Duration): Promise<void> {
    this.assertHeld();
    await this.#heldLocks.extend(this.#heldLock, ttl);
  }

  async downgrade(): Promise<void> {
    this.assertHeld();
    this.refuseDowngrade();
    await this.#heldLocks.downgrade(this.#heldLock);
  }

  refuseDowngrade(): void {
    if (!this.#heldLock.request.share) this.#refuseReentered('downgraded');
  }

  async handOver(): Promise<string> {
    this.assertHeld();
    if (this.#heldLock.request.share) {
      throw new LockOptionsError(
        `Lock "${this.key}" is held by several, in shared mode or by permits: only who holds it alone hands it over.`,
      );
    }
    this.#refuseReentered('handed over');
    return this.#heldLocks.handOver(this.#heldLock);
  }

  #refuseReentered(step: string): void {
    if (this.#heldLock.holds <= 1) return;
    throw new LockOptionsError(
      `Lock "${this.key}" is held more than once, by re-entry: give back all leases but one before it is ${step}.`,
    );
  }

  /** `unused`: nobody worked under it, so no minimum hold counts. */
  release(unused?: 'unused'): Promise<boolean> {
    if (this.#released) return this.#released;
    const heldLock = this.#heldLock;
    this.#leaveTurn?.();
    heldLock.drop(unused !== 'unused');
    this.#released = heldLock.holds > 0 ? this.confirmed() : this.#heldLocks.release(heldLock);
    return this.#released;
  }

  /** Whether its lock is held; where the clocks leave that in doubt, the store says. */
  async confirmed(): Promise<boolean> {
    const heldLock = this.#heldLock;
    if (heldLock.inDoubt) await this.#heldLocks.extend(heldLock, TTL_BOUNDS.min).catch(() => {});
    return heldLock.held;
  }

  openSection(lease: BaseLease = this): Section {
    return new Section(this.#heldLocks, this.#heldLock, lease);
  }

  toJSON(): LeaseJson {
    const { fencingToken } = this.#heldLock;
    return { key: this.key, held: this.held, expiresAt: this.expiresAt, fencingToken };
  }
}

/**
 * One more lease on what the code around holds; undefined if that was given back while the call waited for its siblings. The
 * call's `wait` counts from `from`.
 * @throws LockUpgradeError, `signal.reason`, LeaseLostError if the lock was lost.
 */
export async function reenter(
  section: Section,
  call: CallSettings,
  heldLocks: HeldLocks,
  clock: Clock,
  signal: AbortSignal | undefined,
  from: number,
): Promise<SingleLease | undefined> {
  throwIfAborted(signal);
  const leaveTurn = await section.enter(call, signal, clock, from);
  if (!leaveTurn) return undefined;
  const { heldLock } = section;
  const lease = new SingleLease(heldLocks, heldLock, clock.monotonic() - from, leaveTurn);
  if ((await lease.confirmed()) && !signal?.aborted) return lease;
  void lease.release('unused');
  throwIfAborted(signal);
  if (heldLock.state === 'awaiting') return undefined;
  throw heldLock.lossError();
}
