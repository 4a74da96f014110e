import { AWAITS, type Held, type LockStore } from '../../lib/locks/lock-primitive.js';
import { withPrimitive } from './world.js';

/** To whom one token went. */
export interface Grant {
  /** Of who had the lease from another caller of his process: that of his own place, if he had one. */
  holder: string;
  /** Where he had queued. */
  arrival?: number | undefined;
  /** It came by a run of places: the server granted it to another. */
  passed?: boolean;
}

/** Which place in the server's order each token went to, as the stores of some processes tell. */
export class Grants {
  /** Recording takes memory for each grant. */
  on = true;
  /** Of those who queue, by holder. */
  readonly #arrivals = new Map<
    string,
    { readonly key: string; readonly at: number; readonly moved: boolean }
  >();
  /** Who queues no more: what is on its way about him comes too late. */
  readonly #gone = new Set<string>();
  readonly #byToken = new Map<string, Grant>();
  /** The places of a process that still wait, for each token with which one of them may be served. */
  readonly #runs = new Map<string, string[]>();

  /** To be put around a process's store: it sees places and grants as they come. */
  readonly watch = (store: LockStore): LockStore => ({
    ...withPrimitive(store, {
      acquire: async (ask) => {
        const answer = await store.lock.acquire(ask);
        if (answer.kind === 'queued') {
          // A place that the server had forgotten is behind those who were served meanwhile; who awaits a condition does not queue yet.
          const moved = answer.rejoined || answer.rank === AWAITS;
          if (this.on && !this.#gone.has(ask.holder))
            this.#arrivals.set(ask.holder, { key: ask.key, at: Number(answer.arrival), moved });
        }
        if (answer.kind === 'held') this.#note(ask.key, ask.holder, answer);
        return answer;
      },
      leave: (claim) => {
        this.#arrivalOf(claim.holder);
        return store.lock.leave(claim);
      },
    }),
    get ready() {
      return store.ready;
    },
    open: (listener) =>
      store.open({
        granted: (claim, grant) => {
          this.#note(claim.key, claim.holder, grant);
          listener.granted(claim, grant);
        },
        forced: (holder) => listener.forced(holder),
        kept: (key, rest) => listener.kept(key, rest),
        reconnected: () => listener.reconnected(),
      }),
  });

  /** Who was granted this token; to be asked as sections begin, in their order. */
  of(key: string, token: number): Grant {
    const name = `${key} ${token}`;
    const grant = this.#byToken.get(name) ?? { holder: 'unknown' };
    const run = this.#runs.get(name);
    this.#runs.delete(name);
    let next = run?.shift();
    while (next !== undefined && !this.#arrivals.has(next)) next = run!.shift(); // he gave up
    if (next !== undefined) {
      Object.assign(grant, { holder: next, arrival: this.#arrivalOf(next), passed: true });
    }
    return grant;
  }

  /** Each token of the block that a grant reserved may become a holder of its own, in memory. */
  #note(
    key: string,
    holder: string,
    { fencingToken = 0, tokens, last }: Pick<Held, 'fencingToken' | 'tokens' | 'last'>,
  ): void {
    if (!this.on) return;
    const run = last === undefined ? undefined : this.#run(key, holder, Number(last));
    const arrival = this.#arrivalOf(holder);
    this.#byToken.set(`${key} ${fencingToken}`, { holder, arrival });
    for (let nth = 1; nth < tokens; nth += 1) {
      this.#byToken.set(`${key} ${fencingToken + nth}`, { holder: `${holder}+${nth}` });
      if (run) this.#runs.set(`${key} ${fencingToken + nth}`, run);
    }
  }

  /** Where he queued, who queues no more. */
  #arrivalOf(holder: string): number | undefined {
    const place = this.#arrivals.get(holder);
    this.#arrivals.delete(holder);
    if (this.on) this.#gone.add(holder);
    return place?.moved ? undefined : place?.at;
  }

  /** The places of the holder's process that wait behind his, up to that arrival; without his answer it knows of none. */
  #run(key: string, holder: string, last: number): string[] {
    const process = holder.split('/')[0]!;
    const from = this.#arrivals.get(holder)?.at ?? Infinity;
    return [...this.#arrivals]
      .filter(([other, place]) => place.key === key && other.startsWith(`${process}/`))
      .filter(([, { at }]) => at > from && at <= last)
      .sort(([, a], [, b]) => a.at - b.at)
      .map(([other]) => other);
  }
}
