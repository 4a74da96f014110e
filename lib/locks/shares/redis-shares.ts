import { isReader } from '../../options/index.js';
import type { Answer, Ask, Claim, Extension, HolderSteps } from '../lock-primitive.js';
import { isOne, type LockSteps } from '../lock-steps.js';
import { placeText } from '../lock/place-text.js';
import { scripts } from './scripts.js';

/**
 * Any number of readers, or as many holders as there are permits, never beside one who holds the lock
 * alone. Not re-entrant by itself. Waiters are served in one order with the exclusive ones; those who
 * stand next to each other and fit come in together. A crash costs the rest of that one lease.
 */
export class RedisShares implements HolderSteps {
  constructor(private readonly steps: LockSteps) {}

  acquire(ask: Ask): Promise<Answer> {
    const { share } = ask;
    const permits = isReader(share) ? 0 : share?.permits;
    return this.steps.acquire(scripts.acquire, ask, { ...kindOf(ask), permits });
  }

  release(claim: Claim, keep: number): Promise<boolean> {
    const { key, holder } = claim;
    const { inbox } = this.steps;
    const rest = keep > 0 ? Math.ceil(keep) : undefined;
    const operands = { holder, inbox, ...kindOf(claim), keep: rest };
    return this.steps.release(scripts.release, key, operands);
  }

  leave(claim: Claim): Promise<boolean> {
    const { key, holder } = claim;
    const { inbox } = this.steps;
    const operands = { holder, place: placeText(claim), inbox, ...kindOf(claim) };
    return this.steps.run(scripts.leave, key, operands, isOne);
  }

  batches(claims: readonly Claim[]): number[][] {
    return this.steps.batches(claims);
  }

  extend(claims: readonly Claim[]): Promise<Extension> {
    return this.steps.extend(scripts.extend, claims, (claim) => {
      const { holder, ttl } = claim;
      return { holder, ttl, ...kindOf(claim) };
    });
  }
}

function kindOf({ share }: Claim): { kind: string; count: number } {
  return { kind: isReader(share) ? 's' : 'p', count: share?.count ?? 1 };
}
