import type { LockStoreError } from '../errors/index.js';
import type { LockStore } from '../locks/lock-store.js';
import type { LockRequest } from '../locks/lock-request.js';
import type { Clock } from '../options/index.js';
import { Claim, isRefused } from './claim.js';
import { pause, pauseAfter } from './timers.js';

/** Called with what the store refuses for good while nobody waits for its answer. */
export type OnRefused = (error: LockStoreError, step: 'release' | 'renewal') => void;

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

  /** Gives up what stands under the holder id, by a step that may run several times. `lasts`: what is left of its lease at most, in ms. */
  abandon(
    claim: Claim,
    leave = (): Promise<unknown> => this.leave(claim),
    lasts = claim.request.ttl,
  ): void {
    const running = this.#run(leave, claim, lasts).finally(() => {
      this.#running.delete(running);
    });
    this.#running.add(running);
  }

  /** Gives it up once. */
  async leave({ request, awaited }: Claim): Promise<void> {
    await this.store.leave(request);
    if (awaited) await this.store.leave(awaited); // in this order a signal that was used is not passed on
  }

  /** Entries had their turns without the store: they leave its queue. Nothing of theirs is under way. */
  abandonServed(served: readonly LockRequest[] | undefined): void {
    const [first, ...others] = served ?? [];
    if (first) this.abandon(new Claim(first, 0, this.clock), () => this.store.leave(first, others));
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

  async #run(leave: () => Promise<unknown>, claim: Claim, lasts: number): Promise<void> {
    const { clock } = this;
    const { signal } = this.#closing;
    const giveUpAt = Math.max(clock.monotonic(), claim.uncertainUntil) + lasts;
    for (let failures = 0; ;) {
      const last = signal.aborted;
      const now = clock.monotonic();
      try {
        await leave();
        if (now >= claim.uncertainUntil) return;
        await pause(claim.uncertainUntil - clock.monotonic() + 1, clock, signal);
      } catch (error) {
        if (isRefused(error)) return this.onRefused(error, 'release');
        await pause(pauseAfter(failures), clock, signal);
        failures += 1;
      }
      if (last || clock.monotonic() > giveUpAt) return;
    }
  }
}
