import { LeaseLostError, LockShutdownError, LockStoreError } from '../errors/index.js';
import type { LockPrimitive, Transferred } from '../locks/lock-primitive.js';
import type { LockRequest } from '../locks/lock-request.js';
import type { Clock } from '../options/index.js';
import type { Cleanup } from './cleanup.js';
import type { HandOver } from './hand-over.js';
import { HeldLock } from './held-lock.js';
import { pauseAfter } from './retry.js';
import { standingOf } from './standing.js';
import { InFlight } from './in-flight.js';

/** Goes on with a lease that another process handed over, under a holder id of this one; once only. */
export class Restoration {
  readonly #inFlight: InFlight;
  #giveUp = (): void => {};
  #over = false;

  constructor(
    private readonly lock: LockPrimitive,
    private readonly clock: Clock,
    private readonly cleanup: Cleanup,
    private readonly timeout: number,
  ) {
    this.#inFlight = new InFlight(timeout);
  }

  /** The application shuts down: what the restoration may bring all the same is left. */
  giveUp(): void {
    this.#over = true;
    this.#giveUp();
  }

  /**
   * Asks again, for twice the command time-out, when Redis does not say.
   * @throws LeaseLostError if somebody else went on with it, or its time is over; LockStoreError: then it
   * may be tried again; LockShutdownError when it was given up.
   */
  async run({ request, call, fencingToken }: HandOver, holder: string): Promise<HeldLock> {
    const own: LockRequest = { ...request, holder };
    const { key } = request;
    const transfer = this.#orGivenUp(key, this.#transfer(request, own));
    const { sent, remaining, renewIn } = await transfer.catch((error: unknown) => {
      this.cleanup.abandon(own, this.#inFlight);
      throw error;
    });
    if (typeof remaining !== 'number') {
      throw new LeaseLostError(key, remaining === 'taken' ? 'taken' : 'expired');
    }
    if (standingOf({ sent, remaining }, this.clock) === 'over') {
      this.cleanup.abandon(own, this.#inFlight);
      throw new LeaseLostError(key, 'expired');
    }
    const ttl = call.renew ? call.ttl : Math.min(call.ttl, remaining); // it ends when it would have ended
    const grant = { kind: 'held', sent, remaining, fencingToken, tokens: 1, renewIn } as const;
    return new HeldLock(own, { ...call, ttl }, grant, this.#inFlight, this.clock, undefined);
  }

  /** The machine slept while the answer was on its way: the next one says the same, if it is true still. */
  #isDoubtful({ sent, remaining }: Transferred): boolean {
    return (
      typeof remaining === 'number' && standingOf({ sent, remaining }, this.clock) === 'doubtful'
    );
  }

  #orGivenUp<Answer>(key: string, asked: Promise<Answer>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#giveUp = () => reject(new LockShutdownError(key));
      asked.then(resolve, reject);
    });
  }

  async #transfer(request: LockRequest, own: LockRequest): Promise<Transferred> {
    const giveUpAt = this.clock.monotonic() + 2 * this.timeout;
    for (let failures = 0; ; failures += 1) {
      const from = this.clock.monotonic();
      this.#inFlight.sent(from);
      try {
        const answer = await this.lock.transfer(request, own);
        this.#inFlight.answered();
        if (this.#over || !this.#isDoubtful(answer)) return answer;
      } catch (error) {
        const failure = error instanceof LockStoreError ? error : undefined;
        if (failure?.outcome === 'unknown') this.#inFlight.unknown(from);
        else this.#inFlight.answered();
        if (!failure?.retryable || this.clock.monotonic() >= giveUpAt) throw error;
        await new Promise<void>((resolve) => void this.clock.after(pauseAfter(failures), resolve));
        if (this.#over) throw error;
      }
    }
  }
}
