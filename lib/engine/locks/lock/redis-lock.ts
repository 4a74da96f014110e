import type { LuaScript } from '../../redis/index.js';
import { LARGEST_BATCH } from '../batches.js';
import type { LockRequest } from '../lock-request.js';
import type { LockSteps } from '../lock-steps.js';
import type { Answer, Extension, LockStrategy } from '../lock-store.js';
import { conditions, exclusive } from '../native-scripts.js';
import type { FreeLocks } from './free-lock.js';

type Scripts = Readonly<Record<'acquire' | 'release' | 'leave' | 'extend', LuaScript>>;

/**
 * How one kind of native lock is taken, kept and given back. Not re-entrant by itself: the holder id is one grant's. Waiters
 * of all kinds are served in the order in which the server queued them, by hand-off in the release. A crash costs the rest
 * of that one lease; a crashed waiter at most 3 s.
 */
export class RedisLock implements LockStrategy {
  constructor(
    protected readonly steps: LockSteps,
    private readonly scripts: Scripts,
    /** How many leases one extend carries. */
    private readonly largestBatch = LARGEST_BATCH,
  ) {}

  acquire(request: LockRequest): Promise<Answer> {
    return this.steps.server.take(this.steps.acquire(this.scripts.acquire, request));
  }

  release(request: LockRequest, keep: number, served?: readonly LockRequest[]): Promise<boolean> {
    const { release } = this.scripts;
    return this.steps.server.take(this.steps.release(release, request, keep, served));
  }

  leave(request: LockRequest, served?: readonly LockRequest[]): Promise<boolean> {
    return this.steps.server.take(this.steps.leave(this.scripts.leave, request, served));
  }

  batches(requests: readonly LockRequest[]): number[][] {
    return this.steps.batches(requests, this.largestBatch);
  }

  extend(requests: readonly LockRequest[]): Promise<Extension> {
    return this.steps.server.take(this.steps.extend(this.scripts.extend, requests));
  }
}

/** The lock that one holder has alone: by the short way, where that is likely to do. */
export class RedisExclusiveLock extends RedisLock {
  constructor(private readonly free: FreeLocks) {
    super(free.steps, exclusive);
  }

  override acquire(request: LockRequest): Promise<Answer> {
    const { steps, free } = this;
    return steps.server.take(free.acquire(request) ?? steps.acquire(exclusive.acquire, request));
  }

  override release(
    request: LockRequest,
    keep: number,
    served?: readonly LockRequest[],
  ): Promise<boolean> {
    const { steps, free } = this;
    const { release } = exclusive;
    return steps.server.take(
      free.release(request, keep, served) ?? steps.release(release, request, keep, served),
    );
  }
}

/**
 * Who awaits a condition holds nothing and stands in the lock's queue where no grant comes to it, until it is
 * signalled: then it queues like anybody, and wakes as the holder. Signals go in the order in which they came to
 * await; one that was signalled and leaves, or dies, passes it on. A crash costs 3 s at most. What was granted is kept and
 * given back as any lock.
 */
export class RedisCondition extends RedisLock {
  constructor(steps: LockSteps) {
    super(steps, exclusive);
  }

  /** Begins to await, if a former lease is given back in the same step; else asks. */
  override acquire(request: LockRequest): Promise<Answer> {
    const script = request.former ? conditions.await : conditions.ask;
    return this.steps.server.take(this.steps.acquire(script, request));
  }

  override leave(request: LockRequest): Promise<boolean> {
    return this.steps.server.take(this.steps.leave(conditions.leave, request));
  }
}
