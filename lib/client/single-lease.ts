import { type LeaseLostError, LockOptionsError } from '../errors/index.js';
import type { Duration } from '../options/index.js';
import type { Holding } from './holding.js';
import type { Holdings } from './holdings.js';
import { BaseLease } from './base-lease.js';
import type { LeaseJson } from './lease.js';
import { Section } from './section.js';

/** A lease on one lock: what a grant brought, or one more hold on it by re-entry. */
export class SingleLease extends BaseLease {
  readonly #holdings: Holdings;
  #held: Holding;
  readonly #leaveTurn: (() => void) | undefined;
  #released: Promise<boolean> | undefined;

  constructor(holdings: Holdings, holding: Holding, leaveTurn?: () => void) {
    super();
    this.#holdings = holdings;
    this.#held = holding;
    this.#leaveTurn = leaveTurn;
    holding.holds += 1;
  }

  /** What a lease stands on. No property of it: the holder id in there is a secret that no log may show. */
  static holdingOf(lease: SingleLease): Holding {
    return lease.#holding;
  }

  /** Another one after a condition was awaited. */
  get #holding(): Holding {
    return (this.#held = this.#held.current);
  }

  get keys(): readonly string[] {
    return [this.key];
  }

  override get key(): string {
    return this.#holding.request.key;
  }

  get fencingToken(): number {
    const token = this.#holding.fencingToken;
    if (token !== undefined) return token;
    const { dialect } = this.#holding.request;
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
    return Math.floor(this.#holding.wallDeadline);
  }

  get signal(): AbortSignal {
    return this.#holding.signal;
  }

  get held(): boolean {
    if (this.#released !== undefined) return false;
    if (this.#holding.inDoubt) this.#holdings.verify(this.#holding);
    return this.#holding.held;
  }

  get returned(): boolean {
    return this.#released !== undefined;
  }

  lossError(): LeaseLostError {
    return this.#holding.lossError(this.returned);
  }

  async extend(ttl?: Duration): Promise<void> {
    this.assertHeld();
    await this.#holdings.extend(this.#holding, ttl);
  }

  async downgrade(): Promise<void> {
    this.assertHeld();
    this.refuseDowngrade();
    await this.#holdings.downgrade(this.#holding);
  }

  refuseDowngrade(): void {
    const { request, holds } = this.#holding;
    if (request.share || holds <= 1) return;
    throw new LockOptionsError(
      `Lock "${this.key}" is held more than once, by re-entry: give back all leases but one before it is downgraded.`,
    );
  }

  async handOver(): Promise<string> {
    this.assertHeld();
    const { request, holds } = this.#holding;
    if (request.share) {
      throw new LockOptionsError(
        `Lock "${this.key}" is held by several, in shared mode or by permits: only who holds it alone hands it over.`,
      );
    }
    if (holds > 1) {
      throw new LockOptionsError(
        `Lock "${this.key}" is held more than once, by re-entry: give back all leases but one before it is handed over.`,
      );
    }
    return this.#holdings.handOver(this.#holding);
  }

  /** Who handed it over is done with it. */
  override async finish(onLost?: 'throw' | 'ignore'): Promise<void> {
    if (this.#holding.lossReason === 'transferred') await this.release();
    else await super.finish(onLost);
  }

  /** `unused`: nobody worked under it, so no minimum hold counts. */
  release(unused?: 'unused'): Promise<boolean> {
    if (this.#released) return this.#released;
    const holding = this.#holding;
    if (unused !== 'unused') holding.use();
    this.#leaveTurn?.();
    holding.holds -= 1;
    this.#released =
      holding.holds > 0 ? Promise.resolve(holding.held) : this.#holdings.release(holding);
    return this.#released;
  }

  openSection(lease: BaseLease = this): Section {
    return new Section(this.#holdings, this.#holding, lease);
  }

  toJSON(): LeaseJson {
    const { fencingToken } = this.#holding;
    return { key: this.key, held: this.held, expiresAt: this.expiresAt, fencingToken };
  }
}
