import { isReader } from '../../options/index.js';
import type { Answer, Extension, LockStrategy } from '../lock-primitive.js';
import type { LockRequest } from '../lock-request.js';
import { isOne, type LockSteps } from '../lock-steps.js';
import { entryOf } from '../entry.js';
import { scripts } from './scripts.js';

/** How many leases one extend carries: one of many permits takes Redis up to four times as long as a lock. */
const LARGEST_BATCH = 128;

/**
 * Any number of readers, or as many holders as there are permits, never beside one who holds the lock
 * alone. Not re-entrant by itself. Waiters are served in one order with the exclusive ones; those who
 * stand next to each other and fit come in together. A crash costs the rest of that one lease.
 */
export class RedisShares implements LockStrategy {
  constructor(private readonly steps: LockSteps) {}

  acquire(request: LockRequest): Promise<Answer> {
    const { share } = request;
    const permits = isReader(share) ? 0 : share?.permits;
    const operands = { ...kindOf(request), permits };
    return this.steps.server.take(this.steps.acquire(scripts.acquire, request, operands));
  }

  release(request: LockRequest, keep: number): Promise<boolean> {
    const { key, holder } = request;
    const { inbox } = this.steps;
    const rest = keep > 0 ? Math.ceil(keep) : undefined;
    const operands = { holder, inbox, ...kindOf(request), keep: rest };
    return this.steps.server.take(this.steps.release(scripts.release, key, operands));
  }

  leave(request: LockRequest): Promise<boolean> {
    const { key, holder } = request;
    const { inbox } = this.steps;
    const operands = { holder, place: entryOf(request), inbox, ...kindOf(request) };
    return this.steps.server.take(this.steps.step(scripts.leave, key, operands, isOne));
  }

  batches(requests: readonly LockRequest[]): number[][] {
    return this.steps.batches(requests, LARGEST_BATCH);
  }

  extend(requests: readonly LockRequest[]): Promise<Extension> {
    const step = this.steps.extend(scripts.extend, requests, (request) => {
      const { holder, ttl } = request;
      return { holder, ttl, ...kindOf(request) };
    });
    return this.steps.server.take(step);
  }
}

function kindOf({ share }: LockRequest): { kind: string; count: number } {
  return { kind: isReader(share) ? 's' : 'p', count: share?.count ?? 1 };
}
