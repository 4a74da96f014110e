import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { LockOptionsError } from '../errors/index.js';
import { systemClock } from '../options/index.js';
import { Candidate } from './candidate.js';
import type { ElectionOptions } from './election.js';
import type { LockService } from './lock.service.js';

/** How long a shutdown may wait for resignations, in ms. */
const FAREWELL = 1_000;

/**
 * The elections in which this replica stands because decorators name them: in each once, from start-up
 * until it shuts down.
 */
export class Candidates implements OnApplicationBootstrap, BeforeApplicationShutdown {
  static readonly #ofServices = new WeakMap<LockService, Candidates>();
  readonly #byName = new Map<string, { ttl: ElectionOptions['ttl']; candidate: Candidate }>();

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
   * This replica's candidate for the lead of `name`.
   * @throws LockOptionsError if another ttl was named for it before.
   */
  get(name: string, { ttl }: ElectionOptions = {}): Candidate {
    const known = this.#byName.get(name);
    if (known && known.ttl !== ttl) {
      throw new LockOptionsError(
        `@LeaderOnly('${name}') has ttl ${String(ttl)} in one place and ${String(known.ttl)} in another: it is one election.`,
      );
    }
    if (known) return known.candidate;
    const candidate = new Candidate(this.locks.election(name, { ttl }));
    this.#byName.set(name, { ttl, candidate });
    return candidate;
  }

  /** Called by Nest: campaigns, without waiting for the outcome. */
  onApplicationBootstrap(): void {
    for (const { candidate } of this.#byName.values()) candidate.stand();
  }

  /** Called by Nest: leaves the lead to another replica, at once where no work is under way. */
  async beforeApplicationShutdown(): Promise<void> {
    const retired = [...this.#byName.values()].map(({ candidate }) => candidate.retire());
    let cancel = (): void => {};
    const farewell = new Promise<void>(
      (resolve) => (cancel = systemClock.after(FAREWELL, resolve)),
    );
    await Promise.race([Promise.all(retired), farewell]);
    cancel();
  }
}
