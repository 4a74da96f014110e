import { AsyncLocalStorage } from 'node:async_hooks';
import type { LockRequest } from '../../lib/engine/locks/lock-request.js';
import type { Answer, Grant, LockStore } from '../../lib/engine/locks/lock-store.js';
import { isReader } from '../../lib/engine/options/index.js';
import { AWAITS, HEARTBEAT, SILENCE } from '../../lib/engine/protocol/constants.js';
import { monotonic } from './monotonic.js';
import { withSteps } from './world.js';

/** To whom one token went. */
export interface Granted extends Turn {
  /** Of who had the lease from another caller of its process: that of its own entry, if it had one. */
  holder: string;
  /** It came by a batch: the server granted it to another. */
  passed?: boolean;
}

/** How an entry came to its grant. */
export interface Turn {
  /** Where it had queued, if that was heard before the grant. */
  arrival?: number | undefined;
  /** It had asked for the first time, and did not queue. */
  atOnce?: boolean;
  /** When that ask was sent, by the wall clock, which servers of this machine share; in µs. Said of readers. */
  sentAt?: number | undefined;
}

/** The holder ids under which one call asked for its keys. */
export type HolderIds = ReadonlyMap<string, string>;

/** The call in which the running code is. */
const calls = new AsyncLocalStorage<Map<string, string>>();

/** Who has not asked for so long, in ms, may have been taken for dead: a time that is written down may be older by a heartbeat. */
const DEAD = SILENCE - HEARTBEAT;

/** Which entry in the server's order each token went to, as the stores of some processes tell. */
export class Grants {
  /** Recording takes memory for each grant. */
  on = true;
  /** By holder; undefined where the order says nothing of it any more. */
  readonly #arrivals = new Map<string, number | undefined>();
  /** The key of each holder that stands in a queue, or awaits a condition. */
  readonly #standing = new Map<string, string>();
  /** By process and key: when the last ask that was answered had been sent, and when the server may have taken the process for dead. */
  readonly #asked = new Map<string, { sent: number; deadAt: number }>();
  readonly #byToken = new Map<string, Granted>();
  /** By holder: readers have one token between them. */
  readonly #readers = new Map<string, Turn>();

  /** To be put around a process's store: it sees entries and grants as they come. */
  readonly watch = (store: LockStore): LockStore =>
    withSteps(store, {
      acquire: async (ask) => {
        const holderIds = calls.getStore();
        // Its first ask is for its own entry; a timer that it sets may ask for that of another.
        if (holderIds && !holderIds.has(ask.key)) holderIds.set(ask.key, ask.holder);
        const sent = monotonic();
        const sentAt = Date.now() * 1_000;
        let answer: Answer;
        try {
          answer = await store.acquire(ask);
        } catch (error) {
          this.#unanswered(ask.holder);
          throw error;
        }
        if (this.on) this.#shown(ask, sent);
        if (this.on && answer.kind === 'queued') this.#standing.set(ask.holder, ask.key);
        if (answer.kind === 'queued' && answer.rank !== AWAITS) {
          // An entry that the server had forgotten is behind those who were served meanwhile.
          const at = answer.requeued ? undefined : Number(answer.enqueuedAt);
          if (at === undefined || !this.#arrivals.has(ask.holder)) this.#came(ask.holder, at);
        }
        if (answer.kind === 'held') {
          this.#note(ask, answer, { atOnce: !this.#arrivals.has(ask.holder), sentAt });
        }
        return answer;
      },
      leave: (request, served) => {
        this.#arrivalOf(request.holder);
        return store.leave(request, served);
      },
      open: (listener) =>
        store.open({
          ...listener,
          granted: (request, grant) => {
            if (grant) this.#note(request, grant);
            else this.#came(request.holder, undefined); // its turn came, and may have been over when it woke
            listener.granted(request, grant);
          },
          reconnected: () => {
            // Its inbox heard nothing meanwhile, so that it may have been passed over.
            this.#forget(store.processId);
            listener.reconnected();
          },
        }),
    });

  /** Makes a call that asks for locks; what it asks for meanwhile is known as its own. */
  async during<T>(call: () => Promise<T>): Promise<{ got: T; holderIds: HolderIds }> {
    const holderIds = new Map<string, string>();
    const got = await calls.run(holderIds, call);
    return { got, holderIds };
  }

  /** Who was granted this token, by a call that asked under these holder ids; undefined: nobody, as far as is known. */
  of(key: string, token: number, holderIds: HolderIds): Granted | undefined {
    const grant = this.#byToken.get(`${key} ${token}`);
    const own = grant?.passed ? holderIds.get(key) : undefined;
    return !grant || own === undefined
      ? grant
      : { ...grant, holder: own, arrival: this.#arrivalOf(own) };
  }

  /** How the entry of a reader came to its grant. */
  ofReader(holder: string): Turn | undefined {
    return this.#readers.get(holder);
  }

  /** Whether the server may have taken a process for dead, at a lock, since that moment. */
  mayHaveDied(processId: string, key: string, since: number): boolean {
    return (this.#asked.get(`${processId} ${key}`)?.deadAt ?? -Infinity) > since;
  }

  /** An ask was answered: the process lives. If it was silent for long, the entries that it has there may have been removed, and come again. */
  #shown({ key, holder }: LockRequest, sent: number): void {
    const processId = holder.split('/', 1)[0]!;
    const asked = `${processId} ${key}`;
    const now = monotonic();
    const last = this.#asked.get(asked) ?? { sent, deadAt: -Infinity };
    if (now - last.sent > DEAD && this.#forget(processId, key)) last.deadAt = now;
    last.sent = Math.max(last.sent, sent);
    this.#asked.set(asked, last);
  }

  /** The order says nothing any more of what this process has in the queue of a key, or of each. False if it has nothing there. */
  #forget(processId: string, key?: string): boolean {
    let some = false;
    for (const [holder, at] of this.#standing) {
      if (!holder.startsWith(`${processId}/`) || (key !== undefined && key !== at)) continue;
      this.#arrivals.set(holder, undefined);
      some = true;
    }
    return some;
  }

  /** Each token that a grant reserved may become a holder of its own, in memory. */
  #note(
    { key, holder, share }: LockRequest,
    { fencingToken = 0, tokens, batch }: Pick<Grant, 'fencingToken' | 'tokens' | 'batch'>,
    { atOnce = false, sentAt }: Pick<Turn, 'atOnce' | 'sentAt'> = {},
  ): void {
    if (!this.on) return;
    const arrival = this.#arrivalOf(holder);
    if (isReader(share)) {
      if (!this.#readers.has(holder)) this.#readers.set(holder, { arrival, atOnce, sentAt });
      return;
    }
    this.#first(`${key} ${fencingToken}`, { holder, arrival, atOnce });
    const passed = batch !== undefined;
    for (let nth = 1; nth < tokens; nth += 1) {
      this.#first(`${key} ${fencingToken + nth}`, { holder: `${holder}+${nth}`, passed });
    }
  }

  /** Who asks what it was told already hears of the last token of its grant: it stays whose it is. */
  #first(token: string, grant: Granted): void {
    if (!this.#byToken.has(token)) this.#byToken.set(token, grant);
  }

  /** Where it queued, who queues no more: what is still on its way about it comes too late. */
  #arrivalOf(holder: string): number | undefined {
    const arrival = this.#arrivals.get(holder);
    this.#came(holder, undefined);
    this.#standing.delete(holder);
    return arrival;
  }

  /** An ask may have come to the queue, or even to a grant, of which nobody heard. */
  #unanswered(holder: string): void {
    if (!this.#arrivals.has(holder)) this.#came(holder, undefined);
  }

  #came(holder: string, arrival: number | undefined): void {
    if (this.on) this.#arrivals.set(holder, arrival);
  }
}
