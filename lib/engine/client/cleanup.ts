import type { LockStore } from '../locks/lock-store.js';
import type { LockRequest } from '../locks/lock-request.js';
import type { Clock } from '../options/index.js';
import { isRefused, type OnRefused, pauseAfter } from './retry.js';
import { InFlight } from './in-flight.js';
import { pause } from './timers.js';

/**
 * A caller that gave up holds nothing: its holder id is left now, and again once nothing that was sent under it can
 * still take effect. That ends when the server has answered after that moment, when it refuses for good, or when the
 * lease would be over by itself.
 */
export class Cleanup {
  readonly #running = new Set<Promise<void>>();
  readonly #closing = new AbortController();

  constructor(
    private readonly store: LockStore,
    private readonly clock: Clock,
    private readonly onRefused: OnRefused,
  ) {}

  /** Gives up what stands under the request's holder id, by a step that may run several times. `lasts`: what is left of its lease at most, in ms. */
  abandon(
    request: LockRequest,
    inFlight: InFlight,
    leave = (): Promise<unknown> => this.store.leave(request),
    lasts = request.ttl,
  ): void {
    const running = this.#run(leave, inFlight, lasts).finally(() => {
      this.#running.delete(running);
    });
    this.#running.add(running);
  }

  /** Entries had their turns without the store: they leave its queue. Nothing of theirs is under way. */
  abandonServed(served: readonly LockRequest[] | undefined): void {
    const [first, ...others] = served ?? [];
    if (first) this.abandon(first, new InFlight(0), () => this.store.leave(first, others));
  }

  /** How many are under way. */
  get size(): number {
    return this.#running.size;
  }

  /** Resolves when what is under way has been tried once more; nothing is repeated after that. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#running);
  }

  async #run(leave: () => Promise<unknown>, inFlight: InFlight, lasts: number): Promise<void> {
    const { clock } = this;
    const { signal } = this.#closing;
    const giveUpAt = Math.max(clock.monotonic(), inFlight.uncertainUntil) + lasts;
    for (let failures = 0; ;) {
      const last = signal.aborted;
      const now = clock.monotonic();
      try {
        await leave();
        if (now >= inFlight.uncertainUntil) return;
        await pause(inFlight.uncertainUntil - clock.monotonic() + 1, clock, signal);
      } catch (error) {
        if (isRefused(error)) return this.onRefused(error, 'release');
        await pause(pauseAfter(failures), clock, signal);
        failures += 1;
      }
      if (last || clock.monotonic() > giveUpAt) return;
    }
  }
}
