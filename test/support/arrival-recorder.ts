import type { LockStore } from '../../lib/locks/lock-primitive.js';

/** Notes at which place in the server's order each grant was queued; a grant without a wait has none. */
export class ArrivalRecorder {
  /** Recording takes memory for each grant: off until it is wanted. */
  on = false;
  readonly #arrivals = new Map<string, number>();
  /** By fencing token. */
  readonly granted = new Map<number, number | undefined>();

  wrap(store: LockStore): LockStore {
    const { lock } = store;
    const note = (holder: string, token: number | undefined): void => {
      if (this.on) this.granted.set(token!, this.#arrivals.get(holder));
    };
    return {
      processId: store.processId,
      get ready() {
        return store.ready;
      },
      lock: {
        acquire: async (ask) => {
          const answer = await lock.acquire(ask);
          if (this.on && answer.kind === 'queued')
            this.#arrivals.set(ask.holder, Number(answer.arrival));
          if (answer.kind === 'held') note(ask.holder, answer.fencingToken);
          return answer;
        },
        release: (claim, keep) => lock.release(claim, keep),
        leave: (claim) => lock.leave(claim),
        extend: (claims) => lock.extend(claims),
        inspect: (key, places) => lock.inspect(key, places),
        stamp: (key) => lock.stamp(key),
        force: (key) => lock.force(key),
        transfer: (claim, heir) => lock.transfer(claim, heir),
        downgrade: (claim) => lock.downgrade(claim),
        signal: (claim, condition, most) => lock.signal(claim, condition, most),
      },
      open: (listener) =>
        store.open({
          granted: (claim, grant) => {
            note(claim.holder, grant.fencingToken);
            listener.granted(claim, grant);
          },
          forced: (holder) => listener.forced(holder),
          kept: (key, rest) => listener.kept(key, rest),
          reconnected: () => listener.reconnected(),
        }),
      names: (search) => store.names(search),
      pushMissed: () => store.pushMissed(),
      describe: () => store.describe(),
      close: () => store.close(),
    };
  }
}
