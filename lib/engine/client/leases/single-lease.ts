import { type LeaseLostError, LockOptionsError } from '../../errors/index.js';
import type { AcquireTrace } from '../../events/index.js';
import { refuseWithoutTokens } from '../../locks/preconditions.js';
import {
  type CallSettings,
  type Clock,
  type Duration,
  throwIfAborted,
  TTL_BOUNDS,
} from '../../options/index.js';
import type { HeldLease } from './held-lease.js';
import type { LeaseRegistry } from './lease-registry.js';
import { BaseLease } from './lease.js';
import { Section } from './section.js';

/** A lease on one lock, by a grant or by re-entry. */
export class SingleLease extends BaseLease {
  readonly #registry: LeaseRegistry;
  #held: HeldLease;
  readonly #leaveTurn: (() => void) | undefined;
  #released: Promise<boolean> | undefined;

  constructor(
    registry: LeaseRegistry,
    heldLease: HeldLease,
    readonly waited: number,
    /** Lets the next sibling in; undefined unless the lease is a re-entry, which has added itself to the lock already. */
    leaveTurn?: () => void,
  ) {
    super();
    this.#registry = registry;
    this.#held = heldLease;
    this.#leaveTurn = leaveTurn;
    if (!leaveTurn) heldLease.addLease();
  }

  /** The state of a lease. It is no property, since its holder id is a secret that no log may show. */
  static heldLeaseOf(lease: SingleLease): HeldLease {
    return lease.#heldLease;
  }

  /** Whether this registry granted the lease; no other one knows its state. */
  static isOf(registry: LeaseRegistry, lease: SingleLease): boolean {
    return lease.#registry === registry;
  }

  /** A call for several keys holds them all: the lease begins now, unless it is a re-entry. */
  begin(call: CallSettings, waited: number, asked?: AcquireTrace): void {
    if (!this.#leaveTurn) this.#registry.begin(this.#heldLease, call, waited, asked);
  }

  /** The present state, which a wait for a condition replaces. */
  get #heldLease(): HeldLease {
    return (this.#held = this.#held.current);
  }

  get keys(): readonly string[] {
    return [this.key];
  }

  override get key(): string {
    return this.#heldLease.request.key;
  }

  get token(): number | undefined {
    return this.#heldLease.fencingToken;
  }

  get fencingToken(): number {
    const { token } = this;
    if (token !== undefined) return token;
    refuseWithoutTokens(this.#heldLease.request);
    throw new LockOptionsError(
      `Lock "${this.key}" was taken with "fencing: false": it has no fencing token.`,
    );
  }

  fencingTokenOf(key: string): number {
    if (key === this.key) return this.fencingToken;
    throw new LockOptionsError(`The lease on lock "${this.key}" is none on "${key}".`);
  }

  get expiresAt(): number {
    return Math.floor(this.#heldLease.wallDeadline);
  }

  get signal(): AbortSignal {
    return this.#heldLease.signal;
  }

  get held(): boolean {
    if (this.#released !== undefined) return false;
    const heldLease = this.#heldLease;
    if (heldLease.inDoubt && !heldLease.claim.renews) this.#registry.verify([heldLease]);
    return heldLease.held;
  }

  get returned(): boolean {
    return this.#released !== undefined || this.#heldLease.state === 'released';
  }

  get handedOver(): boolean {
    return this.#heldLease.lossReason === 'transferred';
  }

  lossError(): LeaseLostError {
    return this.#heldLease.lossError(this.returned);
  }

  async extend(ttl?: Duration): Promise<void> {
    this.assertHeld();
    await this.#registry.extend(this.#heldLease, ttl);
  }

  async downgrade(): Promise<void> {
    this.assertHeld();
    this.refuseDowngrade();
    await this.#registry.downgrade(this.#heldLease);
  }

  /** @throws LockOptionsError if {@link downgrade} would refuse the lease while it is held. */
  refuseDowngrade(): void {
    if (!this.#heldLease.request.share) this.#refuseReentered('downgraded');
  }

  async handOver(): Promise<string> {
    return SingleLease.handOver([this]);
  }

  /** Hands over leases on several locks, by one text. */
  static async handOver(leases: readonly SingleLease[]): Promise<string> {
    for (const lease of leases) lease.#refuseHandOver();
    const registry = leases[0]!.#registry;
    return registry.during(() => registry.handOver(leases.map((lease) => lease.#heldLease)));
  }

  #refuseHandOver(): void {
    this.assertHeld();
    if (this.#heldLease.request.share) {
      throw new LockOptionsError(
        `Lock "${this.key}" is held by several, in shared mode or by permits: only who holds it alone hands it over.`,
      );
    }
    this.#refuseReentered('handed over');
  }

  #refuseReentered(step: string): void {
    if (this.#heldLease.leases <= 1) return;
    throw new LockOptionsError(
      `Lock "${this.key}" is held more than once, by re-entry: give back all leases but one before it is ${step}.`,
    );
  }

  /** `unused`: no code ran under the lease, so no minimum hold counts. */
  release(unused?: 'unused'): Promise<boolean> {
    if (this.#released) return this.#released;
    const heldLease = this.#heldLease;
    this.#leaveTurn?.();
    heldLease.dropLease(unused !== 'unused');
    this.#released = heldLease.leases > 0 ? this.confirmed() : this.#registry.release(heldLease);
    return this.#released;
  }

  /** Whether the lock is held; if the clocks leave that in doubt, the store is asked. */
  async confirmed(): Promise<boolean> {
    const heldLease = this.#heldLease;
    if (heldLease.inDoubt) await this.#registry.extend(heldLease, TTL_BOUNDS.min).catch(() => {});
    return heldLease.held;
  }

  openSection(lease: BaseLease = this): Section {
    return new Section(this.#registry, this.#heldLease, lease);
  }
}

/**
 * Adds a lease to the lock that the code around holds. Undefined if that was given back while the call waited for its
 * siblings. The call's `wait` counts from `from`.
 * @throws LockUpgradeError, `signal.reason`, LeaseLostError if the lock was lost.
 */
export async function reenter(
  section: Section,
  call: CallSettings,
  registry: LeaseRegistry,
  clock: Clock,
  signal: AbortSignal | undefined,
  from: number,
): Promise<SingleLease | undefined> {
  throwIfAborted(signal);
  const leaveTurn = await section.enter(call, signal, clock, from);
  if (!leaveTurn) return undefined;
  const { heldLease } = section;
  const lease = new SingleLease(registry, heldLease, clock.monotonic() - from, leaveTurn);
  if ((await lease.confirmed()) && !signal?.aborted) return lease;
  void lease.release('unused');
  throwIfAborted(signal);
  if (heldLease.state === 'awaiting') return undefined;
  throw heldLease.lossError();
}
