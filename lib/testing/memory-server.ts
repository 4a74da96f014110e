import type { Batch } from '../locks/lock-store.js';
import { type Clock, type Share, systemClock } from '../options/index.js';
import { ExpiringMap } from './expiring-map.js';

/** One of several that hold a lock together: when its lease ends (wall ms), and how many permits it has. */
export interface MemoryLease {
  readonly ends: number;
  readonly count: number;
}

/** A place in the queue of one lock. */
export interface Place {
  /** As it stands in Redis; says all the rest but the arrival. */
  readonly text: string;
  readonly holder: string;
  readonly process: string;
  readonly ttl: number;
  readonly tokens: number;
  readonly share: Share | undefined;
  /** The condition it awaits, or was signalled for. */
  readonly condition: string | undefined;
  /** The server's clock in µs when it came, or one more than the place before it. */
  readonly arrival: number;
}

/** What the server tells a process without being asked. */
export interface Inbox {
  granted(grant: {
    name: string;
    place: string;
    remaining: number;
    fencingToken: number | undefined;
    tokens: number;
    batch: Batch | undefined;
  }): void;
  forced(holder: string): void;
  kept(name: string, rest: number): void;
  /** The server answers again after an outage. */
  resumed(): void;
}

/**
 * The memory that several applications share, as several processes share one Redis.
 * Each step on it runs as one; it loses nothing unless told to.
 */
export class MemoryServer {
  /** What stands at a lock's name, and of which Redis type it would be. @internal */
  readonly values = new ExpiringMap<{ type: string; text: string }>(() => this.clock.wall());
  /** By name: those who hold it together, each with the end of its lease in ms. @internal */
  readonly holders = new ExpiringMap<Map<string, MemoryLease>>(() => this.clock.wall());
  /** By name; sorted by arrival, never empty. @internal */
  readonly queues = new ExpiringMap<Place[]>(() => this.clock.wall());
  /** By name: those who await a condition, in their order, never empty. @internal */
  readonly awaiting = new ExpiringMap<Place[]>(() => this.clock.wall());
  /** By name: when each process asked last, in ms. @internal */
  readonly seen = new ExpiringMap<Map<string, number>>(() => this.clock.wall());
  /** By name: the last fencing token. @internal */
  readonly fences = new ExpiringMap<number>(() => this.clock.wall());
  /** By name: the first of the tokens that were reserved with the last one. @internal */
  readonly firstTokens = new Map<string, number>();
  /** By name and holder: the token of a permit, while its answer may get lost. @internal */
  readonly permitTokens = new ExpiringMap<number>(() => this.clock.wall());
  readonly #inboxes = new Map<string, Inbox>();
  #waiting: (() => void)[] | undefined;

  constructor(readonly clock: Clock = systemClock) {}

  /** The server's clock in µs. @internal */
  now(): number {
    return Math.floor(this.clock.wall() * 1_000);
  }

  /** Whether what is sent now is answered at once. @internal */
  get answers(): boolean {
    return !this.#waiting;
  }

  /** Runs `step` now, or when the server goes on. @internal */
  run<T>(step: () => T): Promise<T> {
    if (!this.#waiting) return Promise.resolve().then(step);
    const { promise, resume } = postponed(step);
    this.#waiting.push(resume);
    return promise;
  }

  /** From now on the process hears what it is told. @internal */
  subscribe(process: string, inbox: Inbox): void {
    this.#inboxes.set(process, inbox);
  }

  /** The process hears nothing any more; its places stay. @internal */
  unsubscribe(process: string): void {
    this.#inboxes.delete(process);
  }

  /** The inbox of a process, if it listens. @internal */
  inbox(process: string): Inbox | undefined {
    return this.#inboxes.get(process);
  }

  /** The server stops answering; what is sent meanwhile runs when it goes on. */
  pause(): void {
    this.#waiting ??= [];
  }

  resume(): void {
    const waiting = this.#waiting;
    if (!waiting) return;
    this.#waiting = undefined;
    for (const step of waiting) step();
    for (const inbox of this.#inboxes.values()) inbox.resumed();
  }

  /** Loses everything, as FLUSHALL or a restart without persistence does. */
  flush(): void {
    for (const map of [
      this.values,
      this.holders,
      this.queues,
      this.awaiting,
      this.seen,
      this.fences,
      this.firstTokens,
      this.permitTokens,
    ])
      map.clear();
  }
}

function postponed<T>(step: () => T): { promise: Promise<T>; resume: () => void } {
  let resume!: () => void;
  const turn = new Promise<void>((resolve) => (resume = resolve));
  return { promise: turn.then(step), resume };
}
