import type { LockStoreError } from '../errors/index.js';
import type { LockStore } from '../locks/lock-store.js';
import type { LockRequest } from '../locks/lock-request.js';
import type { Clock } from '../options/index.js';
import { isRefused, pauseAfter } from './retry.js';
import { InFlight } from './in-flight.js';

/**
 * A caller that gave up holds nothing: its holder id is left now, and again once nothing that was sent under it can
 * still take effect. That ends when the server has answered after that moment, when it refuses for good, or when the
 * lease would be over by itself.
 */
export class Cleanup {
  readonly #running = new Set<Promise<void>>();
  readonly #pauses = new Set<() => void>();
  #closed = false;

  constructor(
    private readonly store: LockStore,
    private readonly clock: Clock,
    /** Told of what the store refuses for good. */
    private readonly refused: (error: LockStoreError) => void = () => {},
  ) {}

  /** Gives up the entry and the lock that stand under the request's holder id. */
  abandon(request: LockRequest, inFlight: InFlight): void {
    this.start(() => this.store.leave(request), inFlight, request.ttl);
  }

  /** Entries had their turns without the store: they leave its queue. Nothing of theirs is under way. */
  abandonServed(served: readonly LockRequest[] | undefined): void {
    const [first, ...others] = served ?? [];
    if (first) this.start(() => this.store.leave(first, others), new InFlight(0), first.ttl);
  }

  /** `leave` gives everything up that stands under one holder id; it may run several times. */
  start(leave: () => Promise<unknown>, inFlight: InFlight, ttl: number): void {
    const running = this.#run(leave, inFlight, ttl).finally(() => this.#running.delete(running));
    this.#running.add(running);
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

  async #run(leave: () => Promise<unknown>, inFlight: InFlight, ttl: number): Promise<void> {
    const giveUpAt = Math.max(this.clock.monotonic(), inFlight.uncertainUntil) + ttl;
    for (let failures = 0; ;) {
      const last = this.#closed;
      const now = this.clock.monotonic();
      try {
        await leave();
        if (now >= inFlight.uncertainUntil) return;
        await this.#pause(inFlight.uncertainUntil - this.clock.monotonic() + 1);
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
