import type { DialectSettings } from '../options/index.js';
import { batchesBy } from './batches.js';
import type {
  Answer,
  Ask,
  Claim,
  Extension,
  HolderSteps,
  LockPrimitive,
  Lost,
  Sight,
  Signalled,
  Transferred,
} from './lock-primitive.js';

/** One lock that one may hold alone or several together, or give back until a condition comes true: each step goes to the mode of its claim. */
export class Modes implements LockPrimitive {
  constructor(
    private readonly alone: Omit<LockPrimitive, 'signal'>,
    private readonly together: HolderSteps,
    private readonly awaiting: Pick<LockPrimitive, 'acquire' | 'leave' | 'signal'>,
  ) {}

  acquire(ask: Ask): Promise<Answer> {
    return (ask.condition ? this.awaiting : this.#mode(ask)).acquire(ask);
  }

  release(claim: Claim, keep: number, passed?: readonly Claim[]): Promise<boolean> {
    return this.#mode(claim).release(claim, keep, passed);
  }

  leave(claim: Claim, passed?: readonly Claim[]): Promise<boolean> {
    return (claim.condition ? this.awaiting : this.#mode(claim)).leave(claim, passed);
  }

  /** None of two modes. */
  batches(claims: readonly Claim[]): number[][] {
    const modeOf = (claim: Claim): HolderSteps => this.#mode(claim);
    return batchesBy(claims, modeOf, (mode, own) => mode.batches(own));
  }

  extend(claims: readonly Claim[]): Promise<Extension> {
    return this.#mode(claims[0]!).extend(claims);
  }

  inspect(key: string, places: number, dialect?: DialectSettings): Promise<Sight> {
    return this.alone.inspect(key, places, dialect);
  }

  force(key: string, dialect?: DialectSettings): Promise<boolean> {
    return this.alone.force(key, dialect);
  }

  downgrade(claim: Claim): Promise<boolean> {
    return this.alone.downgrade(claim);
  }

  transfer(claim: Claim, heir: Claim): Promise<Transferred> {
    return this.alone.transfer(claim, heir);
  }

  stamp(key: string): Promise<number | undefined> {
    return this.alone.stamp(key);
  }

  signal(claim: Claim, condition: string, most: number, last?: string): Promise<Signalled | Lost> {
    return this.awaiting.signal(claim, condition, most, last);
  }

  #mode(claim: Claim): HolderSteps {
    return claim.share ? this.together : this.alone;
  }
}
