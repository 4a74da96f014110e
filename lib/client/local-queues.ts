import { LockLimitError } from '../errors/index.js';
import type { LockStore, PushListener } from '../locks/lock-store.js';
import type { CallSettings, Clock, ModuleSettings } from '../options/index.js';
import type { BaseLease } from './lease.js';
import type { Cleanup } from './cleanup.js';
import type { HeldLocks } from './held-locks.js';
import { LocalQueue, type QueueContext } from './local-queue.js';
import { QueuePollers } from './queue-poller.js';
import { Schedule } from './timers.js';
import { BUDGET } from './time-slice.js';
import { InFlight } from './in-flight.js';
import { TurnoverMap } from './turnover-map.js';
import { Waiter } from './waiter.js';

/** How many fencing tokens a grant to a shared queue reserves: its own, and one for each time it is handed on. */
const BLOCK = 1 + BUDGET.handOffs;

/**
 * Where fewer may wait, leases do not go on in batches: those that were served in one, 64 at most (run-behind.lua), stay
 * in the store's queue until it is over, and others would be turned away for them.
 */
const ENOUGH_FOR_BATCHES = 1_000;

/** All callers of this process that wait for a lock: their queues, and the entries of those in the store's queues. */
export class LocalQueues {
  /** The queues of one caller each. */
  readonly #single = new TurnoverMap<LocalQueue, LocalQueue>();
  /** The queues that any caller may join, by key; fenced and unfenced apart. */
  readonly #shared = {
    fenced: new TurnoverMap<LocalQueue>(),
    unfenced: new TurnoverMap<LocalQueue>(),
  };

  /** What the queues share, and whoever else has entries. */
  readonly context: QueueContext;

  constructor(
    store: LockStore,
    private readonly settings: ModuleSettings,
    private readonly clock: Clock,
    cleanup: Cleanup,
    heldLocks: HeldLocks,
    stopping: AbortSignal,
  ) {
    this.context = {
      store,
      settings,
      clock,
      cleanup,
      heldLocks,
      entries: new TurnoverMap(),
      pollers: new QueuePollers(clock),
      bounds: new Schedule(clock, (due) => due.forEach((waiter) => waiter.expire!())),
      slices: new Schedule(clock, (due) => due.forEach((queue) => queue.overstayed())),
      waiting: 0,
      stopping,
      retire: (queue) => this.#retire(queue),
    };
  }

  get size(): number {
    return this.context.waiting;
  }

  /** Resolves when the lock is held. The call's `wait` counts from `startedAt`. */
  wait(
    key: string,
    call: CallSettings,
    signal: AbortSignal | undefined,
    startedAt = this.clock.monotonic(),
  ): Promise<BaseLease> {
    const { fairness, limits } = this.settings;
    const { waitersPerProcess } = limits;
    if (this.size >= waitersPerProcess) {
      throw new LockLimitError(key, 'waitersPerProcess', waitersPerProcess);
    }
    const shared = fairness === 'local' && call.wait > 0 && !call.share && !call.dialect;
    const queue = shared ? this.#sharedQueue(key, call) : this.#singleQueue(key, call);
    const waiter = new Waiter(call, startedAt);
    queue.join(waiter, signal);
    return waiter.lease;
  }

  /** A push for one of the entries. What nobody here waits for any more is left. */
  granted: PushListener['granted'] = (request, grant) => {
    const { entries, cleanup, heldLocks } = this.context;
    const entry = entries.get(request.holder);
    if (entry) entry.granted(grant);
    else if (!heldLocks.has(request.holder)) cleanup.abandon(request, new InFlight(0));
  };

  /** A push says when the lock with this id comes free. */
  kept(id: string, rest: number): void {
    this.context.pollers.find(id)?.comesFreeIn(rest);
  }

  /** Pushes may have been missed: every entry asks. */
  askAll(): void {
    this.context.pollers.askAll();
  }

  /** Nobody waits any more; each is told why. */
  rejectAll(reason: (key: string) => Error): void {
    const { fenced, unfenced } = this.#shared;
    for (const queue of [...this.#single.values(), ...fenced.values(), ...unfenced.values()]) {
      queue.rejectAll(reason);
    }
    this.context.bounds.stop();
    this.context.slices.stop();
  }

  #sharedQueue(key: string, { fencing }: CallSettings): LocalQueue {
    const queues = fencing ? this.#shared.fenced : this.#shared.unfenced;
    let queue = queues.get(key);
    if (!queue) {
      queue = new LocalQueue(this.context, key, fencing ? BLOCK : 0, false);
      queues.set(key, queue);
    }
    return queue;
  }

  #singleQueue(key: string, { fencing, share, dialect }: CallSettings): LocalQueue {
    const fenced = fencing && (dialect?.fencing ?? true);
    const enough = this.settings.limits.waitersPerKey >= ENOUGH_FOR_BATCHES;
    const inBatches = enough && !share && !dialect;
    const queue = new LocalQueue(this.context, key, fenced ? 1 : 0, inBatches);
    this.#single.set(queue, queue);
    return queue;
  }

  #retire(queue: LocalQueue): void {
    const queues = queue.fenced ? this.#shared.fenced : this.#shared.unfenced;
    if (queues.get(queue.key) === queue) queues.delete(queue.key);
    else this.#single.delete(queue);
  }
}
