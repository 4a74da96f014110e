import type { LockStoreError } from '../../errors/index.js';
import type { Batch } from '../../locks/lock-store.js';
import { lockId, type LockRequest } from '../../locks/lock-request.js';
import type { Clock } from '../../options/index.js';
import {
  ASK_LONGEST,
  ASK_PAUSE,
  ASK_SHORTEST,
  AWAITS,
  FIRST_LEASE,
} from '../../protocol/constants.js';
import { pauseAfter } from '../leases/timers.js';

/** An entry that a poller polls. It carries whether it is in its poller, so that nothing is looked up. */
export interface Polled {
  readonly request: LockRequest;
  /** How many entries are before this one; `AWAITS` while it awaits a condition. */
  readonly rank: number;
  polled: boolean;
  ask(): void;
}

/** What stands behind the id of a lock without a queue, for the entries of its readers. */
export const READERS = '\nreaders';

/** Which entries have one poller. Of a lock without a queue, readers ask apart: a writer of this process that waits bars none. */
export function pollerId(request: Pick<LockRequest, 'key' | 'format' | 'share'>): string {
  const apart = !request.format.queue && request.share;
  return lockId(request) + (apart ? READERS : '');
}

/** The error of the requests that fail, and since when they do, in monotonic ms. */
export interface Outage {
  readonly error: LockStoreError;
  readonly since: number;
}

/**
 * The entries of this process in the queue of one key, in their order, on one timer. The first entry asks for all: its
 * requests keep the process alive to the server, find a grant whose push got lost, and take over from a crashed holder. The
 * first entry that awaits a condition asks as well: the server signals and forgets such entries apart from the others.
 */
export class QueuePoller<Entry extends Polled> {
  /** The outage of the first entry, and so of all. */
  outage: Outage | undefined;
  readonly #entries: Entry[] = [];
  #cancelPoll: (() => void) | undefined;
  /** When the next poll is due, in monotonic ms; -Infinity if none is. */
  #pollsAt = -Infinity;
  /** When the lock comes free, if a message said so while a request was under way; else Infinity. */
  #freeAt = Infinity;

  constructor(
    private readonly clock: Clock,
    private readonly emptied: () => void,
  ) {}

  get first(): Entry | undefined {
    return this.#entries[0];
  }

  /** The first entry, if all entries of the batch are known here and none is before them. */
  firstOf({ entries, last }: Batch): Entry | undefined {
    return this.#entries[entries - 1]?.request.enqueuedAt === last ? this.#entries[0] : undefined;
  }

  /** Adds an entry that the store has queued, or found queued. `remaining`: what is left of the holder's lease, in ms. */
  add(entry: Entry, remaining: number): void {
    if (!entry.polled) {
      let at = this.#entries.length;
      while (at > 0 && enqueuedAt(this.#entries[at - 1]!) > enqueuedAt(entry)) at -= 1;
      this.#entries.splice(at, 0, entry);
      entry.polled = true;
    }
    if (entry !== this.#entries[0]) return;
    this.outage = undefined; // only the first entry tells that an outage is over: requests of the others may need less of the store
    this.#pollIn(this.#round(entry, remaining));
  }

  /** Removes an entry that is over, `granted` or not, or that is added again at another place. */
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
      const { format, share } = entry.request;
      if (granted && !format.queue && share)
        this.askAll(); // readers share the lock, and no push tells them so
      else this.#pollIn(this.#round(this.#entries[0]!, -1)); // the removed entry asked for those behind it
    }
  }

  /** A request failed: the first entry asks again soon. Returns the entries for which the request stood. */
  failed(entry: Entry, error: LockStoreError): Entry[] {
    this.#pollIn(pauseAfter(0));
    if (entry !== this.#entries[0]) return [];
    this.outage = { error, since: this.outage?.since ?? this.clock.monotonic() };
    return [...this.#entries];
  }

  /** A message says that the lock comes free in `ms`: the first entry asks then, if not earlier. */
  comesFreeIn(ms: number): void {
    const pause = Math.max(ASK_PAUSE, ms + 1 || 0); // a message may say anything, even NaN
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

  /** The first entry for the lock and the first one for each condition ask. An entry that awaits its condition no longer asks in any case, until the store knows so. */
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
