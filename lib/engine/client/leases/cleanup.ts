import type { LockStoreError } from '../../errors/index.js';
import type { LockStore } from '../../locks/lock-store.js';
import type { LockRequest } from '../../locks/lock-request.js';
import type { Clock } from '../../options/index.js';
import { QUEUE_LIFE } from '../../protocol/constants.js';
import { Claim, isRefused, isRetryable } from './claim.js';
import { pause, pauseAfter } from './timers.js';

/** Called when the store refuses a step for good and nobody waits for its answer. */
export type OnRefused = (error: LockStoreError, step: 'release' | 'renewal') => void;

/** How many ids that are over a process remembers at least: as many as end while a promoted replica and its primary both take commands. */
const REMEMBERED = 5_000;

/**
 * A caller that gave up holds nothing. Its holder id is given up at once, and again when no request sent under it can take
 * effect any more. The retries end when the server has answered after that moment, when it refuses for good, or when what was
 * asked for is over by itself: a lease after its ttl, a place in the queue after a minute.
 */
export class Cleanup {
  readonly #running = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  /** The holder ids that left the queue and are over, in two generations. */
  #over = new Set<string>();
  #overBefore = new Set<string>();

  constructor(
    private readonly store: LockStore,
    private readonly clock: Clock,
    private readonly onRefused: OnRefused,
  ) {}

  /**
   * Gives up the holder id, and what was `served` behind it. `leave` may run several times. `lasts`: the longest time left of the
   * lease, in ms.
   */
  abandon(
    claim: Claim,
    leave = (): Promise<unknown> => this.leave(claim),
    lasts = claim.request.ttl,
    served: readonly LockRequest[] = [],
  ): void {
    const running = this.#run(leave, claim, lasts, served).finally(() => {
      this.#running.delete(running);
    });
    this.#running.add(running);
  }

  /** Gives up the holder id once. */
  async leave({ request, awaited }: Claim): Promise<void> {
    await this.store.leave(request);
    if (awaited) await this.store.leave(awaited); // the entry for the lock leaves before the awaiting one: in this order no used signal is passed on
  }

  /** Removes entries that had their turns in memory from the store's queue. No request of theirs is under way. */
  abandonServed(served: readonly LockRequest[] | undefined): void {
    const [first, ...others] = served ?? [];
    if (!first) return;
    const leave = (): Promise<unknown> => this.store.leave(first, others);
    this.abandon(new Claim(first, 0, this.clock), leave, Math.max(first.ttl, QUEUE_LIFE), others);
  }

  /** The store has confirmed that nothing is asked or held under this holder id any more, nor under those `served` behind it. */
  ended(request: LockRequest, served?: readonly LockRequest[]): void {
    if (request.enqueuedAt !== undefined) this.#remember(request); // of any other that was answered, no queue can have an entry
    served?.forEach((each) => this.#remember(each));
  }

  /**
   * A push grants a lock to nobody who waits. Where the id is over, the store refused to hear so, or a promoted replica has not
   * heard it: the grant is given back, once. Of any other id a message proves nothing.
   */
  grantedToNobody(request: LockRequest): void {
    const { holder } = request;
    if (!this.#over.delete(holder) && !this.#overBefore.delete(holder)) return;
    this.abandon(new Claim(request, 0, this.clock));
  }

  /** How many holder ids are being given up. */
  get size(): number {
    return this.#running.size;
  }

  /** Resolves when each cleanup under way has been tried once more; none is repeated after that. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#running);
  }

  #remember({ holder }: LockRequest): void {
    if (this.#over.size >= REMEMBERED) {
      this.#overBefore = this.#over;
      this.#over = new Set();
    }
    this.#over.add(holder);
  }

  async #run(
    leave: () => Promise<unknown>,
    claim: Claim,
    lasts: number,
    served: readonly LockRequest[],
  ): Promise<void> {
    const { clock } = this;
    const { signal } = this.#closing;
    const over = (): void => [claim.request, ...served].forEach((each) => this.#remember(each));
    const from = Math.max(clock.monotonic(), claim.uncertainUntil);
    for (let failures = 0; ;) {
      const last = signal.aborted;
      const now = clock.monotonic();
      try {
        await leave();
        if (now >= claim.uncertainUntil) return over();
        await pause(claim.uncertainUntil - clock.monotonic() + 1, clock, signal);
      } catch (error) {
        if (isRefused(error)) {
          over(); // it may still be queued
          return this.onRefused(error, 'release');
        }
        if (!isRetryable(error)) lasts = Math.min(lasts, claim.request.ttl); // a value of another type stands in the way
        await pause(pauseAfter(failures), clock, signal);
        failures += 1;
      }
      if (last || clock.monotonic() > from + lasts) return;
    }
  }
}
