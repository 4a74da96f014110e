import { LockNotAcquiredError, type LockParty } from '../../errors/index.js';
import { partyOf } from '../../locks/holder.js';
import type { LockStore } from '../../locks/lock-store.js';
import { lockId } from '../../locks/lock-request.js';
import { type CallSettings, type Clock, permitsOf } from '../../options/index.js';

/** How long the error of a caller that waited in vain is held back for the name of the holder, in ms. */
const PATIENCE = 100;

/** The errors of callers whose time is over. They name the holder, for which the store is asked. */
export class BusyErrors {
  /** The looks under way, by {@link lockId}: callers that time out together share one. */
  readonly #looks = new Map<string, Promise<LockParty | undefined>>();

  constructor(
    private readonly store: LockStore,
    private readonly clock: Clock,
  ) {}

  /** Rejects with the error of a call that began at `startedAt` and whose `wait` is over, as soon as the holder is known or nobody says. */
  async timedOut(key: string, call: CallSettings, startedAt: number): Promise<never> {
    const { wait, share } = call;
    const waited = this.clock.monotonic() - startedAt;
    const error = new LockNotAcquiredError(key, Math.round(waited), wait, permitsOf(share));
    throw Object.assign(error, { holder: await this.#holder(key, call) });
  }

  #holder(key: string, { format }: CallSettings): Promise<LockParty | undefined> {
    const id = lockId({ key, format });
    let look = this.#looks.get(id);
    if (!look) {
      const seen = async (): Promise<LockParty | undefined> =>
        partyOf((await this.store.inspect(key, 0, format)).holder);
      look = new Promise((resolve) => {
        const cancel = this.clock.after(PATIENCE, () => resolve(undefined));
        void seen()
          .then(resolve, () => resolve(undefined))
          .finally(cancel);
      });
      this.#looks.set(id, look);
      void look.then(() => this.#looks.delete(id));
    }
    return look;
  }
}
