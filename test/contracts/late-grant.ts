import type { LockRequest } from '../../lib/engine/locks/lock-request.js';
import { withSteps, type Wrap } from '../support/world.js';
import { losingPushes } from '../support/losing-pushes.js';

/** No push comes, and the first grant that an ask of this kind finds is over before the answer is read. */
export class LateGrant {
  #came = false;

  constructor(private readonly isOne: (ask: LockRequest) => boolean) {}

  get came(): boolean {
    return this.#came;
  }

  readonly wrap: Wrap = (store, clock) =>
    losingPushes(
      withSteps(store, {
        acquire: async (ask) => {
          const answer = await store.acquire(ask);
          if (this.#came || !this.isOne(ask) || answer.kind !== 'held') return answer;
          this.#came = true;
          return { ...answer, remaining: 0 };
        },
      }),
      clock,
    );
}
