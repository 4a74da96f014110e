import type { Answer, Lost, Signalled } from '../lock-primitive.js';
import type { LockRequest } from '../lock-request.js';
import { isOne, type LockSteps } from '../lock-steps.js';
import { scripts } from './scripts.js';

/**
 * Who awaits a condition holds nothing and stands in the lock's queue where no grant comes to him, until he is
 * signalled: then he queues like anybody, and wakes as the holder. Signals go in the order in which they came to
 * await; one that was signalled and leaves, or dies, passes it on. A crash costs 3 s at most.
 */
export class RedisConditions {
  constructor(private readonly steps: LockSteps) {}

  /** Begins to await, if a former lease is given back in the same step; else asks. */
  acquire(request: LockRequest): Promise<Answer> {
    const { name: condition, over } = request.condition!;
    return request.former
      ? this.steps.acquire(scripts.await, request, { condition, former: request.former.holder })
      : this.steps.acquire(scripts.ask, request, { condition, over: over ? 1 : 0 });
  }

  leave({ key, holder, ttl, tokens, condition }: LockRequest): Promise<boolean> {
    const { inbox } = this.steps;
    const operands = { holder, ttl, tokens, inbox, condition: condition!.name };
    return this.steps.run(scripts.leave, key, operands, isOne);
  }

  signal(
    { key, holder }: LockRequest,
    condition: string,
    most: number,
    last?: string,
  ): Promise<Signalled | Lost> {
    return this.steps.run(scripts.signal, key, { holder, condition, most, last }, (reply) => {
      if (typeof reply === 'string') return reply as Lost;
      const [woken, rest] = reply as [number, string?];
      return { woken, last: rest };
    });
  }
}
