import type { Answer, Lost, Signalled } from '../lock-primitive.js';
import type { LockRequest } from '../lock-request.js';
import { isOne } from '../lock-steps.js';
import { RedisLock } from '../lock/redis-lock.js';
import { scripts } from './scripts.js';

/**
 * Who awaits a condition holds nothing and stands in the lock's queue where no grant comes to it, until it is
 * signalled: then it queues like anybody, and wakes as the holder. Signals go in the order in which they came to
 * await; one that was signalled and leaves, or dies, passes it on. A crash costs 3 s at most. What was granted is kept and
 * given back as any lock.
 */
export class RedisConditions extends RedisLock {
  /** Begins to await, if a former lease is given back in the same step; else asks. */
  override acquire(request: LockRequest): Promise<Answer> {
    const { name: condition, over } = request.condition!;
    const former = request.former?.holder;
    const step = former
      ? this.steps.acquire(scripts.await, request, { condition, former })
      : this.steps.acquire(scripts.ask, request, { condition, over: over ? 1 : 0 });
    return this.server.take(step);
  }

  override leave({
    key,
    holder,
    ttl,
    tokenBlock: tokens,
    condition,
  }: LockRequest): Promise<boolean> {
    const { inbox } = this.steps;
    const operands = { holder, ttl, tokens, inbox, condition: condition!.name };
    return this.server.take(this.steps.step(scripts.leave, key, operands, isOne));
  }

  signal(
    { key, holder }: LockRequest,
    condition: string,
    most: number,
    last?: string,
  ): Promise<Signalled | Lost> {
    const operands = { holder, condition, most, last };
    const read = (reply: unknown): Signalled | Lost => {
      if (typeof reply === 'string') return reply as Lost;
      const [woken, rest] = reply as [number, string?];
      return { woken, last: rest };
    };
    return this.server.take(this.steps.step(scripts.signal, key, operands, read));
  }
}
