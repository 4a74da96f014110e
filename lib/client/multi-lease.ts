import { type LeaseLostError, LockOptionsError } from '../errors/index.js';
import type { Duration } from '../options/index.js';
import { BaseLease, type OpenSection } from './base-lease.js';
import type { LeaseJson } from './lease.js';

/** One lease over several locks: held while each is, given back together. */
export class MultiLease extends BaseLease {
  readonly #parts: readonly BaseLease[];
  #signal: AbortSignal | undefined;

  /** `parts` in the order of their keys. */
  constructor(parts: readonly BaseLease[]) {
    super();
    this.#parts = parts;
  }

  get keys(): readonly string[] {
    return this.#parts.flatMap(({ keys }) => keys);
  }

  get fencingToken(): number {
    throw new LockOptionsError(
      `A lease on several locks (${this.key}) has a fencing token for each: ask for fencingTokenOf(key).`,
    );
  }

  fencingTokenOf(key: string): number {
    const part = this.#parts.find((each) => each.key === key);
    if (part) return part.fencingToken;
    throw new LockOptionsError(`The lease on locks ${this.key} is none on "${key}".`);
  }

  get expiresAt(): number {
    return Math.min(...this.#parts.map(({ expiresAt }) => expiresAt));
  }

  get signal(): AbortSignal {
    return (this.#signal ??= AbortSignal.any(this.#parts.map(({ signal }) => signal)));
  }

  get held(): boolean {
    return this.#parts.every(({ held }) => held);
  }

  get returned(): boolean {
    return this.#parts.every(({ returned }) => returned);
  }

  lossError(): LeaseLostError {
    return (this.#parts.find(({ held }) => !held) ?? this.#parts[0]!).lossError();
  }

  async extend(ttl?: Duration): Promise<void> {
    this.assertHeld();
    await Promise.all(this.#parts.map((part) => part.extend(ttl)));
  }

  async downgrade(): Promise<void> {
    this.assertHeld();
    this.refuseDowngrade();
    await Promise.all(this.#parts.map((part) => part.downgrade()));
  }

  refuseDowngrade(): void {
    for (const part of this.#parts) part.refuseDowngrade();
  }

  async handOver(): Promise<string> {
    throw new LockOptionsError(
      `A lease on several locks (${this.key}) cannot be handed over: acquire each by itself, and hand those over.`,
    );
  }

  async release(unused?: 'unused'): Promise<boolean> {
    const released = await Promise.all(this.#parts.map((part) => part.release(unused)));
    return released.every(Boolean);
  }

  /** One inside the other, so that each of the locks can be entered again. */
  openSection(lease: BaseLease = this): OpenSection {
    const [first, ...rest] = this.#parts as [BaseLease, ...BaseLease[]];
    const sections = [first.openSection(lease)];
    for (const part of rest) {
      sections.push(sections.at(-1)!.run(() => part.openSection(lease)));
    }
    return {
      run: (work) => sections.at(-1)!.run(work),
      close: () => sections.forEach((section) => section.close()),
    };
  }

  toJSON(): LeaseJson {
    const { key, held, expiresAt } = this;
    return { key, held, expiresAt, fencingToken: undefined };
  }
}
