import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { LockOptionsError, LockShutdownError } from '../../engine/errors/index.js';
import type { BaseLease, Lease } from '../../engine/client/leases/lease.js';
import { pauseAfter } from '../../engine/client/leases/timers.js';
import {
  type Clock,
  detached,
  type LockedPolicy,
  milliseconds,
  onAbort,
  TTL_BOUNDS,
} from '../../engine/options/index.js';
import type { Election, ElectionOptions } from './election.js';
import { LockService } from './lock.service.js';
import { logger } from './logger.js';

/**
 * A candidate that campaigns in the background, again after every loss and every failure, until `retire`. Leader-only work runs
 * through `lead`. If that work releases the lease by hand, the campaign resumes when the call ends, or at the next call.
 */
export class Candidate {
  #retired = false;
  #running = 0;
  #resigned = false;
  #campaigning: Promise<void> | undefined;
  /** The lease that the campaign won, while the campaign waits for its end. */
  #won: BaseLease | undefined;
  /** Wakes the campaign loop from its present wait. */
  #wake = (): void => {};

  constructor(
    private readonly election: Election,
    private readonly clock: Clock,
  ) {
    election.stepsDown = false;
  }

  /** Starts the campaign, once. */
  stand(): void {
    if (!this.#retired) this.#campaigning ??= detached(() => this.#campaign());
  }

  /**
   * Runs `work` inside the leader's lease. A replica that does not lead skips the work and returns undefined.
   * @throws LeaseLostError if the work succeeded after the lease was lost or given back, unless `onLost` is 'ignore'.
   */
  async lead<T>(
    work: (lease: Lease) => Promise<T>,
    onLost?: LockedPolicy['onLost'],
  ): Promise<T | undefined> {
    this.stand();
    this.#noticeReturn();
    const lease = this.#retired ? undefined : this.election.lease;
    if (!lease) {
      logger.debug(`Not the leader of "${this.election.key}": the call is skipped.`);
      this.election.skip();
      return undefined;
    }
    this.#running += 1;
    try {
      const result = await lease.run(() => work(lease));
      if (onLost !== 'ignore') lease.assertHeld();
      return result;
    } finally {
      this.#running -= 1;
      this.#noticeReturn();
      if (this.#retired) await this.#resignWhenIdle();
    }
  }

  /**
   * Refuses further work, and resigns when running work has ended. Resolves without waiting for running work; if none runs,
   * when the campaign is over.
   */
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

  /** Wakes the campaign after a release by hand, which aborts no signal. */
  #noticeReturn(): void {
    if (this.#won?.returned) this.#wake();
  }

  async #campaign(): Promise<void> {
    let lastWarning = '';
    let failures = 0;
    while (!this.#retired) {
      try {
        const lease = await this.election.campaign();
        const { signal } = lease;
        lastWarning = '';
        failures = 0;
        this.#won = lease as BaseLease;
        await this.#until((end) => {
          if (signal.aborted) end();
          return onAbort(signal, end);
        });
        this.#won = undefined;
        if (!signal.aborted) continue;
        logger.warn(`Leads "${this.election.key}" no more: ${(signal.reason as Error).message}`);
      } catch (error) {
        if (this.#retired || error instanceof LockShutdownError) return;
        const { message } = error as Error;
        if (message !== lastWarning) logger.warn(`${message} The campaign is repeated.`);
        lastWarning = message;
        const ms = pauseAfter(failures);
        failures += 1;
        await this.#until((end) => this.clock.after(ms, end));
      }
    }
  }

  /** Waits until `ended` calls back or this replica resigns. The function that `ended` returns removes its timer or listener. */
  async #until(ended: (end: () => void) => () => void): Promise<void> {
    if (this.#resigned) return;
    let forget = (): void => {};
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      forget = ended(resolve);
    });
    forget();
  }
}

/** The candidates of one service in the elections that decorators name: one for each election, from start-up to shutdown. */
export class Candidates implements OnApplicationBootstrap, OnModuleDestroy {
  static readonly #ofServices = new WeakMap<LockService, Candidates>();
  readonly #byName = new Map<string, { ttl: number; candidate: Candidate }>();

  private constructor(private readonly locks: LockService) {}

  static of(service: LockService): Candidates {
    let candidates = Candidates.#ofServices.get(service);
    if (!candidates) {
      candidates = new Candidates(service);
      Candidates.#ofServices.set(service, candidates);
    }
    return candidates;
  }

  /**
   * Returns this replica's candidate in the election `name`.
   * @throws LockOptionsError if the same election was given another ttl before.
   */
  get(name: string, options: ElectionOptions = {}): Candidate {
    const { client, settings } = LockService.internals(this.locks); // a stand-in for the service has no internals: this throws
    const ttl = milliseconds('ttl', options.ttl ?? settings.call.ttl, TTL_BOUNDS);
    const known = this.#byName.get(name);
    if (known && known.ttl !== ttl) {
      throw new LockOptionsError(
        `@LeaderOnly('${name}') has ttl ${ttl} in one place and ${known.ttl} in another: it is one election.`,
      );
    }
    if (known) return known.candidate;
    const candidate = new Candidate(this.locks.election(name, { ttl }), client.clock);
    this.#byName.set(name, { ttl, candidate });
    return candidate;
  }

  /** Called by Nest: campaigns, without waiting for the outcome. */
  onApplicationBootstrap(): void {
    for (const { candidate } of this.#byName.values()) candidate.stand();
  }

  /** Called by Nest: retires all candidates, so that other replicas lead as soon as running work has ended. */
  onModuleDestroy(): void {
    for (const { candidate } of this.#byName.values()) void candidate.retire();
  }
}
