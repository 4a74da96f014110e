import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { LockOptionsError } from '../errors/index.js';
import { Candidate } from './candidate.js';
import type { ElectionOptions } from './election.js';
import { LockService } from './lock.service.js';

/**
 * The elections in which this replica stands because decorators name them: in each once, from start-up
 * until it shuts down.
 */
export class Candidates implements OnApplicationBootstrap, OnModuleDestroy {
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
    LockService.internals(this.locks); // a stand-in has none
    const candidate = new Candidate(this.locks.election(name, { ttl }));
    this.#byName.set(name, { ttl, candidate });
    return candidate;
  }

  /** Called by Nest: campaigns, without waiting for the outcome. */
  onApplicationBootstrap(): void {
    for (const { candidate } of this.#byName.values()) candidate.stand();
  }

  /** Called by Nest: leaves the lead to another replica, where work is under way as soon as that has ended. */
  onModuleDestroy(): void {
    for (const { candidate } of this.#byName.values()) void candidate.retire();
  }
}
