import type { LockStoreError } from '../errors/index.js';
import type { Batch } from '../locks/lock-store.js';
import type { LockRequest } from '../locks/lock-request.js';
import type { Clock } from '../options/index.js';
import {
  ASK_LONGEST,
  ASK_PAUSE,
  ASK_SHORTEST,
  AWAITS,
  FIRST_LEASE,
} from '../protocol/constants.js';
import { pauseAfter } from './timers.js';

/** What a poller polls. It carries whether its poller has it, so that nothing is looked up. */
export interface Polled {
  readonly request: LockRequest;
  /** How many entries are before it; `AWAITS` while it awaits a condition. */
  readonly rank: number;
  polled: boolean;
  ask(): void;
}

/** Why asks fail, and since when. */
export interface Outage {
  readonly error: LockStoreError;
  readonly since: number;
}

/**
 * The entries of this process in the queue of one key, in their order, on one timer. The first of them asks for all:
 * that keeps the process alive to the server, finds a grant whose push got lost, and takes over from a crashed holder.
 * So does the first of those that await a condition: the server signals, and forgets, these apart from the others.
 */
export class QueuePoller<Entry extends Polled> {
  /** Of the first entry, and so of all. */
  outage: Outage | undefined;
  readonly #entries: Entry[] = [];
  #cancelPoll: (() => void) | undefined;
  /** -Infinity while there is no poll to come. */
  #pollsAt = -Infinity;
  /** When the lock is said to come free, if that was said while an ask was under way; else Infinity. */
  #freeAt = Infinity;

  constructor(
    private readonly clock: Clock,
    private readonly emptied: () => void,
  ) {}

  /** The entry that came first. */
  get first(): Entry | undefined {
    return this.#entries[0];
  }

  /** The first entry, where all of the batch are known here and none is before them. */
  firstOf({ entries, last }: Batch): Entry | undefined {
    return this.#entries[entries - 1]?.request.enqueuedAt === last ? this.#entries[0] : undefined;
  }

  /** An entry is in the queue, for the first time or still. `remaining` ms are left of the holder's lease. */
  add(entry: Entry, remaining: number): void {
    if (!entry.polled) {
      let at = this.#entries.length;
      while (at > 0 && enqueuedAt(this.#entries[at - 1]!) > enqueuedAt(entry)) at -= 1;
      this.#entries.splice(at, 0, entry);
      entry.polled = true;
    }
    if (entry !== this.#entries[0]) return;
    this.outage = undefined; // what others ask for may need less of the store
    this.#pollIn(this.#round(entry, remaining));
  }

  /** The entry is over: the store `granted` it, or not. Or it is elsewhere in the queue now, and is added again. */
  remove(entry: Entry, granted: boolean): void {
    if (!entry.polled) return;
    if (granted) this.outage = undefined;
    const first = entry === this.#entries[0];
    entry.polled = false;
    if (first) this.#entries.shift();
    else this.#entries.splice(this.#entries.indexOf(entry), 1);
    if (this.#entries.length === 0) {
      this.#cancelPoll?.();
      this.#cancelPoll = undefined;
      this.#pollsAt = -Infinity;
      this.emptied();
    } else if (first && !this.#cancelPoll) {
      const { dialect, share } = entry.request;
      if (granted && dialect && share)
        this.askAll(); // readers fit together, and nobody pushes that to them
      else this.#pollIn(this.#round(this.#entries[0]!, -1)); // this entry was asking for those behind it
    }
  }

  /** An ask failed: the first entry asks again soon. Returns those for whom this one asked. */
  failed(entry: Entry, error: LockStoreError): Entry[] {
    this.#pollIn(pauseAfter(0));
    if (entry !== this.#entries[0]) return [];
    this.outage = { error, since: this.outage?.since ?? this.clock.monotonic() };
    return [...this.#entries];
  }

  /** The lock is said to come free then: the first entry asks no later than it would have. */
  comesFreeIn(ms: number): void {
    const pause = Math.max(ASK_PAUSE, ms + 1 || 0); // whatever a message says
    const at = this.clock.monotonic() + pause;
    if (!this.#cancelPoll) this.#freeAt = Math.min(this.#freeAt, at);
    else if (at < this.#pollsAt) this.#pollIn(pause);
  }

  askAll(): void {
    for (const entry of this.#entries) entry.ask();
  }

  #pollIn(ms: number): void {
    this.#cancelPoll?.();
    const now = this.clock.monotonic();
    const pause = Math.max(0, Math.min(ms, this.#freeAt - now));
    this.#freeAt = Infinity;
    this.#pollsAt = now + pause;
    this.#cancelPoll = this.clock.after(pause, () => {
      this.#cancelPoll = undefined;
      this.#pollsAt = -Infinity;
      this.#askFirsts();
    });
  }

  /** Whose time to await is over asks in any case, until the store knows that. */
  #askFirsts(): void {
    const asked = new Set<string | undefined>();
    for (const entry of this.#entries) {
      const awaited = entry.rank === AWAITS ? entry.request.condition : undefined;
      if (awaited?.over || !asked.has(awaited?.name)) entry.ask();
      asked.add(awaited?.name);
    }
  }

  #round({ rank, request }: Entry, remaining: number): number {
    const round = ASK_SHORTEST + Math.random() * (ASK_LONGEST - ASK_SHORTEST);
    const lost = Math.min(request.ttl, FIRST_LEASE) / 3;
    const next = rank <= 1 && remaining >= 0 ? remaining + 1 : Infinity;
    return Math.max(ASK_PAUSE, Math.min(round, lost, next));
  }
}

function enqueuedAt({ request }: Polled): number {
  return Number(request.enqueuedAt);
}
