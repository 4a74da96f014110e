import type { LockStoreError } from '../errors/index.js';
import type { LockPrimitive } from '../locks/lock-primitive.js';
import type { LockRequest } from '../locks/lock-request.js';
import type { Clock } from '../options/index.js';
import { isRefused, pauseAfter } from './retry.js';
import { Trail } from './trail.js';

/**
 * Sees to it that who gave up holds nothing: a departure is sent now, and again once nothing that was
 * sent before can still take effect. Ends when the server has answered after that moment, when it refuses for
 * good, or when the lease would be over by itself.
 */
export class Departures {
  readonly #running = new Set<Promise<void>>();
  readonly #pauses = new Set<() => void>();
  #closed = false;

  constructor(
    private readonly lock: LockPrimitive,
    private readonly clock: Clock,
    /** Told of departures that the store refuses for good. */
    private readonly refused: (error: LockStoreError) => void = () => {},
  ) {}

  /** Leaves the entry and the lock that stand under the request's holder id. */
  leave(request: LockRequest, trail: Trail): void {
    this.start(() => this.lock.leave(request), trail, request.ttl);
  }

  /** Entries had their turns without the store: they leave its queue. Nothing of theirs is under way. */
  leaveServed(served: readonly LockRequest[] | undefined): void {
    const [first, ...others] = served ?? [];
    if (first) this.start(() => this.lock.leave(first, others), new Trail(0), first.ttl);
  }

  /** `leave` gives everything up that stands under one holder id; it may run several times. */
  start(leave: () => Promise<unknown>, trail: Trail, ttl: number): void {
    const departure = this.#depart(leave, trail, ttl).finally(() =>
      this.#running.delete(departure),
    );
    this.#running.add(departure);
  }

  /** How many are under way. */
  get size(): number {
    return this.#running.size;
  }

  /** Resolves when what is under way has been tried once more; nothing is repeated after that. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const wake of this.#pauses) wake();
    await Promise.allSettled(this.#running);
  }

  async #depart(leave: () => Promise<unknown>, trail: Trail, ttl: number): Promise<void> {
    const giveUpAt = Math.max(this.clock.monotonic(), trail.uncertainUntil) + ttl;
    for (let failures = 0; ;) {
      const last = this.#closed;
      const now = this.clock.monotonic();
      try {
        await leave();
        if (now >= trail.uncertainUntil) return;
        await this.#pause(trail.uncertainUntil - this.clock.monotonic() + 1);
      } catch (error) {
        if (isRefused(error)) return this.refused(error);
        await this.#pause(pauseAfter(failures));
        failures += 1;
      }
      if (last || this.clock.monotonic() > giveUpAt) return;
    }
  }

  #pause(ms: number): Promise<void> {
    if (this.#closed) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        cancel();
        this.#pauses.delete(wake);
        resolve();
      };
      const cancel = this.clock.after(Math.max(0, ms), wake);
      this.#pauses.add(wake);
    });
  }
}
