import { LockStoreError } from '../errors/index.js';
import type { Grant } from '../locks/lock-store.js';
import type { LockRequest } from '../locks/lock-request.js';
import { type Clock, type Moment, momentOf, systemClock } from '../options/index.js';
import { ExpiringMap } from './expiring-map.js';

/** One of several that hold a lock together: when its lease ends (wall ms), and how many permits it has. */
export interface SharedLease {
  readonly ends: number;
  readonly count: number;
}

/** An entry in the queue of one lock. */
export interface Entry {
  /** As it stands in Redis. */
  readonly text: string;
  /** What it asks for; of a condition, it awaits that or was signalled for it. */
  readonly request: LockRequest;
  readonly process: string;
  /** The server's clock in µs when it came, or one more than the entry before it; from `AWAITING` on it awaits a condition. */
  readonly enqueuedAt: number;
}

/** What the server tells a process without being asked. */
export interface Inbox {
  granted(
    grant: { name: string; entry: string } & Pick<
      Grant,
      'remaining' | 'fencingToken' | 'tokens' | 'batch'
    >,
  ): void;
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
  readonly #maps: { clear(): void }[] = [];
  /** What stands at a lock's name, and of which Redis type it would be. @internal */
  readonly values = this.#map<{ type: string; text: string }>();
  /** By name: those who hold it together, each with the end of its lease in ms. @internal */
  readonly holders = this.#map<Map<string, SharedLease>>();
  /** By name; in their order, never empty. @internal */
  readonly queues = this.#map<Entry[]>();
  /** By name: when each process asked last, in ms. @internal */
  readonly seen = this.#map<Map<string, number>>();
  /** The last fencing token, of whatever lock, at the one name that there is. @internal */
  readonly fences = this.#map<number>();
  /** By name: the version of what the lock guards, which is the token of its readers. @internal */
  readonly versions = this.#map<number>();
  /** By name and holder: the token of a permit, while its answer may get lost. @internal */
  readonly permitTokens = this.#map<number>();
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
    const turn = new Promise<void>((resolve) => {
      if (this.#waiting) this.#waiting.push(resolve);
      else resolve();
    });
    return turn.then(step);
  }

  /** From now on the process hears what it is told. @internal */
  subscribe(process: string, inbox: Inbox): void {
    this.#inboxes.set(process, inbox);
  }

  /** The process hears nothing any more; its entries stay. @internal */
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
    for (const map of this.#maps) map.clear();
  }

  #map<Value>(): ExpiringMap<Value> {
    const map = new ExpiringMap<Value>(() => this.clock.wall());
    this.#maps.push(map);
    return map;
  }
}

/** A process's way to the server. Every command settles within `timeout`, as one to Redis does. */
export class MemoryConnection {
  open = false;

  constructor(
    readonly server: MemoryServer,
    private readonly timeout: number,
    private readonly clock: Clock,
  ) {}

  /**
   * Runs `step` on the server, with the moment at which it was sent; a moment passes before its answer. What is reached
   * after its timeout does `late` instead, if that is given.
   */
  send<T>(key: string | undefined, step: (sent: Moment) => T, late?: () => T): Promise<T> {
    const { server, clock, timeout } = this;
    if (!this.open) return Promise.reject(failure(key, 'it is not open', 'unsent'));
    const sent = momentOf(clock);
    const notAfter = server.clock.wall() + timeout;
    const run = (): T => (late && server.clock.wall() > notAfter ? late() : step(sent));
    if (server.answers) return server.run(run);
    return new Promise((resolve, reject) => {
      const cancel = clock.after(timeout, () =>
        reject(failure(key, `it did not answer within ${timeout} ms`, 'unknown')),
      );
      server.run(run).then(resolve, reject).finally(cancel);
    });
  }
}

/** The process that a holder id belongs to. */
export function processIn(holder: string): string {
  return holder.split('/', 1)[0]!;
}

export function failure(
  key: string | undefined,
  says: string,
  outcome: 'unsent' | 'unknown',
): LockStoreError {
  const lock = key === undefined ? '' : ` for lock "${key}"`;
  return new LockStoreError(`The lock store in memory failed${lock}: ${says}.`, { key, outcome });
}
