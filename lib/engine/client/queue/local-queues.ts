import { LockLimitError, LockNotAcquiredError, type LockParty } from '../../errors/index.js';
import { partyOf } from '../../locks/holder.js';
import type { LockStore, PushListener } from '../../locks/lock-store.js';
import { lockId } from '../../locks/lock-request.js';
import {
  type CallSettings,
  type Clock,
  type ModuleSettings,
  permitsOf,
} from '../../options/index.js';
import type { Cleanup } from '../leases/cleanup.js';
import type { LeaseRegistry } from '../leases/lease-registry.js';
import { LocalQueue, type QueueContext } from './local-queue.js';
import { READERS } from './queue-poller.js';
import { Schedule } from '../leases/timers.js';
import { BUDGET } from './time-slice.js';
import { ChurnMap } from '../leases/churn-map.js';

/** How many fencing tokens a grant to a shared queue reserves: one for the grant, and one for each hand-off. */
const BLOCK = 1 + BUDGET.handOffs;

/**
 * The least `waitersPerKey` with which leases are handed off in batches. Entries that were served in a batch, 64 at most
 * (`batch_behind`), stay in the store's queue until it ends. Under a lower limit, others would be refused for them.
 */
const ENOUGH_FOR_BATCHES = 1_000;

/** How long the error of a caller that waited in vain is held back for the name of the holder, in ms. */
const PATIENCE = 100;

/** The limits of one process. A reached limit refuses every new call, also for a free lock. */
const PROCESS_LIMITS = ['leases', 'waitersPerProcess'] as const;
type ProcessLimit = (typeof PROCESS_LIMITS)[number];

/** The health of a process, apart from its store's. */
export interface ProcessHealth {
  /** The shortest ttl of the leases that the process renews, or is to renew next; in ms. */
  readonly shortestTtl: number;
  /** The limits that are reached. */
  readonly reached: readonly ProcessLimit[];
}

/** All callers of this process that wait for a lock: their queues, and the entries of these queues in the store. */
export class LocalQueues implements QueueContext {
  /** Queues that any caller may join, by their names; each queue of one caller, by itself. */
  readonly #queues = new ChurnMap<LocalQueue, string | LocalQueue>();

  readonly entries: QueueContext['entries'] = new ChurnMap();
  readonly pollers: QueueContext['pollers'] = new ChurnMap();
  readonly bounds: QueueContext['bounds'];
  readonly slices: QueueContext['slices'];
  waiting = 0;
  /** The looks for holders under way, by {@link lockId}: callers that time out together share one. */
  readonly #looks = new Map<string, Promise<LockParty | undefined>>();

  constructor(
    readonly store: LockStore,
    readonly settings: ModuleSettings,
    readonly clock: Clock,
    readonly cleanup: Cleanup,
    readonly registry: LeaseRegistry,
    readonly stopping: AbortSignal,
  ) {
    this.bounds = new Schedule(clock, (due) => due.forEach((waiter) => waiter.expire!()));
    this.slices = new Schedule(clock, (due) => due.forEach((queue) => queue.overstayed()));
  }

  /** The limits of this process that are reached. */
  get reached(): ProcessLimit[] {
    return PROCESS_LIMITS.filter((limit) => this.#isReached(limit));
  }

  /** @throws LockLimitError if this limit of the process is reached. */
  refuseBeyond(limit: ProcessLimit, key: string, more = 1): void {
    if (this.#isReached(limit, more))
      throw new LockLimitError(key, limit, this.settings.limits[limit]);
  }

  #isReached(limit: ProcessLimit, more = 1): boolean {
    const inHand = limit === 'leases' ? this.registry.claimed : this.waiting;
    return inHand + more > this.settings.limits[limit];
  }

  /** Passes the store's pushes to the entries and to the held leases. */
  get pushes(): PushListener {
    const { cleanup, entries, pollers, registry } = this;
    return {
      waits: (holder) => entries.get(holder) !== undefined,
      grantedToNobody: (request) => cleanup.grantedToNobody(request),
      granted: (request, grant) => entries.get(request.holder)?.granted(grant),
      forced: (holder) => registry.forced(holder),
      kept(lock, rest) {
        for (const id of [lock, lock + READERS]) pollers.get(id)?.comesFreeIn(rest);
      },
      reconnected() {
        registry.verify();
        for (const poller of pollers.values()) poller.askAll();
      },
    };
  }

  /** Rejects every waiting caller, each with its reason. */
  rejectAll(reason: (key: string) => Error): void {
    for (const queue of this.#queues.values()) queue.rejectAll(reason);
    this.bounds.stop();
    this.slices.stop();
  }

  /** The queue in which the call waits. */
  of(key: string, { wait, fencing, share, format }: CallSettings): LocalQueue {
    const { fairness, limits } = this.settings;
    const isPlain = !share && format.queue;
    const isJoined = fairness === 'local' && wait > 0 && isPlain;
    // Fenced and unfenced callers wait in different queues. No key has a control character.
    const name = isJoined ? (fencing ? key : `${key}\n`) : undefined;
    const joined = name === undefined ? undefined : this.#queues.get(name);
    if (joined) return joined;
    const isFenced = fencing && format.fencing;
    const tokenBlock = isFenced ? (isJoined ? BLOCK : 1) : 0;
    const inBatches = isPlain && !isJoined && limits.waitersPerKey >= ENOUGH_FOR_BATCHES;
    const queue = new LocalQueue(this, key, tokenBlock, inBatches, name);
    this.#queues.set(name ?? queue, queue);
    return queue;
  }

  retire(queue: LocalQueue): void {
    this.#queues.delete(queue.name ?? queue);
  }

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
