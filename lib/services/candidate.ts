import { LockShutdownError } from '../errors/index.js';
import type { Lease } from '../client/lease.js';
import { pauseAfter } from '../client/retry.js';
import { detached, POLICY_DEFAULTS, systemClock } from '../options/index.js';
import type { Election } from './election.js';
import { logger } from './logger.js';

/**
 * A replica that always stands in an election: it campaigns in the background, again after every loss and
 * every failure, until it retires. Work that only the leader does runs through it.
 */
export class Candidate {
  #standing = false;
  #retired = false;
  #running = 0;
  #resigned = false;
  #campaigning: Promise<void> | undefined;
  /** Ends the wait that the campaign is in. */
  #wake = (): void => {};

  constructor(private readonly election: Election) {
    election.stepsDown = false;
  }

  /** Campaigns from now on. */
  stand(): void {
    if (this.#standing || this.#retired) return;
    this.#standing = true;
    this.#campaigning = detached(() => this.#campaign());
  }

  /**
   * Runs `work` inside the leader's lease; where this replica does not lead, does nothing.
   * @throws LeaseLostError if it succeeded after the lease was lost, unless that is to be ignored.
   */
  async lead<T>(
    work: (lease: Lease) => Promise<T>,
    onLost: 'throw' | 'ignore' = POLICY_DEFAULTS.onLost,
  ): Promise<T | undefined> {
    this.stand();
    const lease = this.#retired ? undefined : this.election.lease;
    if (!lease) {
      logger.debug(`Not the leader of "${this.election.key}": the call is skipped.`);
      return undefined;
    }
    this.#running += 1;
    try {
      const result = await lease.run(() => work(lease));
      if (onLost !== 'ignore') lease.assertHeld();
      return result;
    } finally {
      this.#running -= 1;
      if (this.#retired) await this.#resignWhenIdle();
    }
  }

  /** Begins no work any more and resigns, as soon as the work under way has ended. Resolves without waiting for that, else when its campaign is over. */
  async retire(): Promise<void> {
    this.#retired = true;
    await this.#resignWhenIdle();
  }

  async #resignWhenIdle(): Promise<void> {
    if (this.#running > 0) return;
    this.#resigned = true;
    this.#wake();
    await this.election.resign();
    await this.#campaigning;
  }

  async #campaign(): Promise<void> {
    let said = '';
    let failures = 0;
    while (!this.#retired) {
      try {
        const { signal } = await this.election.campaign();
        said = '';
        failures = 0;
        await this.#until((end) => {
          if (signal.aborted) end();
          else signal.addEventListener('abort', end, { once: true });
        });
        if (this.#resigned) return;
        logger.warn(`Leads "${this.election.key}" no more: ${(signal.reason as Error).message}`);
      } catch (error) {
        if (this.#retired || error instanceof LockShutdownError) return;
        const { message } = error as Error;
        if (message !== said) logger.warn(`${message} The campaign is repeated.`);
        said = message;
        const ms = pauseAfter(failures);
        failures += 1;
        await this.#until((end) => void systemClock.after(ms, end));
      }
    }
  }

  /** Until `ended` says so, or this replica resigns. */
  async #until(ended: (end: () => void) => void): Promise<void> {
    if (this.#resigned) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      ended(resolve);
    });
  }
}
