import { LockOptionsError } from '../../errors/index.js';
import type { DialectSettings } from '../../options/index.js';
import type {
  Answer,
  Ask,
  Claim,
  Extension,
  LockPrimitive,
  Lost,
  Sight,
  Signalled,
  Transferred,
} from '../lock-primitive.js';

/**
 * The same lock where a server may be in quarantine: no lease is longer than the quarantine, and whatever may
 * let somebody in waits for its end. What is held is renewed all the same.
 */
export class BoundedLeases implements LockPrimitive {
  constructor(
    private readonly lock: LockPrimitive,
    /** The longest lease, in ms. */
    private readonly longest: number,
    /** Throws in quarantine. */
    private readonly check: (key: string) => void = () => {},
  ) {}

  async acquire(ask: Ask): Promise<Answer> {
    this.#bound(ask);
    this.check(ask.key);
    return this.lock.acquire(ask);
  }

  async release(claim: Claim, keep: number, passed?: readonly Claim[]): Promise<boolean> {
    this.check(claim.key);
    return this.lock.release(claim, keep, passed);
  }

  async leave(claim: Claim, passed?: readonly Claim[]): Promise<boolean> {
    this.check(claim.key);
    return this.lock.leave(claim, passed);
  }

  batches(claims: readonly Claim[]): number[][] {
    return this.lock.batches(claims);
  }

  async extend(claims: readonly Claim[]): Promise<Extension> {
    for (const claim of claims) this.#bound(claim);
    return this.lock.extend(claims);
  }

  inspect(key: string, places: number, dialect?: DialectSettings): Promise<Sight> {
    return this.lock.inspect(key, places, dialect);
  }

  async downgrade(claim: Claim): Promise<boolean> {
    this.check(claim.key);
    return this.lock.downgrade(claim);
  }

  async transfer(claim: Claim, heir: Claim): Promise<Transferred> {
    this.#bound(heir);
    this.check(claim.key);
    return this.lock.transfer(claim, heir);
  }

  async stamp(key: string): Promise<number | undefined> {
    this.check(key);
    return this.lock.stamp(key);
  }

  async signal(
    claim: Claim,
    condition: string,
    most: number,
    last?: string,
  ): Promise<Signalled | Lost> {
    this.check(claim.key);
    return this.lock.signal(claim, condition, most, last);
  }

  async force(key: string, dialect?: DialectSettings): Promise<boolean> {
    this.check(key);
    return this.lock.force(key, dialect);
  }

  #bound({ key, ttl }: Claim): void {
    if (ttl <= this.longest) return;
    throw new LockOptionsError(
      `Lock "${key}" was asked for with a ttl of ${ttl} ms: where "durability" is 'refuse' no lease is longer than the module's "ttl" (${this.longest} ms).`,
      { key },
    );
  }
}
