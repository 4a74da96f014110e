import { type DialectSettings, earlierOf } from '../options/index.js';
import type {
  Answer,
  Ask,
  Claim,
  Extension,
  HolderSteps,
  LockPrimitive,
  Sight,
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

  /** All that are of one mode in one call. */
  async extend(claims: readonly Claim[]): Promise<Extension> {
    const shared = claims.filter(({ share }) => share);
    if (shared.length === 0) return this.alone.extend(claims);
    const exclusive = claims.filter(({ share }) => !share);
    const [ofShared, ofExclusive] = await Promise.all([
      this.together.extend(shared),
      exclusive.length > 0 ? this.alone.extend(exclusive) : undefined,
    ]);
    const answers = { shared: ofShared.remaining.values(), alone: ofExclusive?.remaining.values() };
    return {
      sent: ofExclusive ? earlierOf(ofShared.sent, ofExclusive.sent) : ofShared.sent,
      remaining: claims.map(({ share }) => (share ? answers.shared : answers.alone!).next().value!),
    };
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

  signal(claim: Claim, condition: string, most: number): Promise<number> {
    return this.awaiting.signal(claim, condition, most);
  }

  #mode(claim: Claim): HolderSteps {
    return claim.share ? this.together : this.alone;
  }
}
