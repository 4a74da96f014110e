import { type LeaseLostError, LockOptionsError } from '../errors/index.js';
import type { Duration } from '../options/index.js';
import type { Holding } from './holding.js';
import { BaseLease } from './base-lease.js';
import type { LeaseJson } from './lease.js';
import type { Section } from './section.js';

/** What a lease asks of the process that gave it out. */
export interface LeaseHost {
  extend(holding: Holding, ttl: Duration | undefined): Promise<void>;
  downgrade(holding: Holding): Promise<void>;
  handOver(holding: Holding): Promise<string>;
  release(holding: Holding): Promise<boolean>;
  verify(holding: Holding): void;
  section(holding: Holding, lease: BaseLease): Section;
}

/** A lease on one lock: what a grant brought, or one more hold on it by re-entry. */
export class SingleLease extends BaseLease {
  readonly #host: LeaseHost;
  #held: Holding;
  readonly #leaveTurn: (() => void) | undefined;
  #released: Promise<boolean> | undefined;

  constructor(host: LeaseHost, holding: Holding, leaveTurn?: () => void) {
    super();
    this.#host = host;
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
    if (this.#holding.inDoubt) this.#host.verify(this.#holding);
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
    await this.#host.extend(this.#holding, ttl);
  }

  async downgrade(): Promise<void> {
    this.assertHeld();
    this.refuseDowngrade();
    await this.#host.downgrade(this.#holding);
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
    return this.#host.handOver(this.#holding);
  }

  /** Who handed it over is done with it. */
  override async finish(onLost?: 'throw' | 'ignore'): Promise<void> {
    if (this.#holding.lossReason === 'transferred') await this.release();
    else await super.finish(onLost);
  }

  release(): Promise<boolean> {
    if (!this.#released) this.#holding.use();
    return this.giveBack();
  }

  giveBack(): Promise<boolean> {
    this.#released ??= this.#release();
    return this.#released;
  }

  openSection(lease: BaseLease = this): Section {
    return this.#host.section(this.#holding, lease);
  }

  toJSON(): LeaseJson {
    const { fencingToken } = this.#holding;
    return { key: this.key, held: this.held, expiresAt: this.expiresAt, fencingToken };
  }

  #release(): Promise<boolean> {
    this.#leaveTurn?.();
    this.#holding.holds -= 1;
    if (this.#holding.holds > 0) return Promise.resolve(this.#holding.held);
    return this.#host.release(this.#holding);
  }
}
