import { EventEmitter } from 'node:events';
import type { LeaseLostError } from '../../engine/errors/index.js';
import { type ElectedEvent, type LockSubject, tellEach } from '../../engine/events/index.js';
import type { Lease } from '../../engine/client/leases/lease.js';
import type { LockClient } from '../../engine/client/lock-client.js';
import { SingleLease } from '../../engine/client/leases/single-lease.js';
import { pause, pauseAfter } from '../../engine/client/leases/timers.js';
import { nameOfKey } from '../../engine/keys/index.js';
import {
  asyncDispose,
  type CallSettings,
  callSettings,
  type Duration,
  refuseOthers,
  throwIfAborted,
} from '../../engine/options/index.js';
import { inspectLock, type LockParty } from '../../engine/inspection/inspection.js';
import { logger } from './logger.js';

/** The options of an election, the same in all replicas. */
export interface ElectionOptions {
  /** How long the leadership of a process that died lasts at most; a living leader renews. From 50 ms to 24 hours. Default: the module's `ttl`. */
  readonly ttl?: Duration | undefined;
  /** Says to operators who leads, beside the election's name. 1 to 64 characters without control characters. Default: none. */
  readonly label?: string | undefined;
}

/** The leader that Redis knows. */
export interface Leader extends LockParty {
  readonly since?: Date;
}

/** The events of an {@link Election}. */
export interface ElectionEvents {
  /** This replica leads from now on. */
  elected: [lease: Lease];
  /** This replica was deposed: its lease was lost, or the application shuts down. End the work and resign. */
  deposed: [reason: LeaseLostError];
}

/**
 * The election of one leader among all replicas. The first candidate leads and renews its lease; the others queue. The next
 * candidate leads at once after a resignation, and within `ttl` and 1 s after a crash or a loss. At a shutdown, the leader gets
 * `deposed` and `lease.signal` at once, and keeps its lease until it resigns, at most for `shutdownGrace`.
 *
 * While Redis keeps its data, no two leader leases are valid at the same time. A leader that stalls past its lease may act
 * after it: check `lease.assertHeld()` and write with its fencing token. The election is an ordinary lock, `leader:<name>`,
 * which `inspect` and `forceRelease` accept.
 *
 * After a loss, call `campaign` again to become a candidate again. The names are those of etcd; the queue of candidates is
 * that of Curator's LeaderLatch and of Chubby.
 */
export class Election extends EventEmitter<ElectionEvents> implements AsyncDisposable {
  readonly #client: LockClient;
  readonly #settings: CallSettings;
  #campaign: Campaign | undefined;
  #lease: Lease | undefined;
  /** The last lease whose loss was told by `deposed`: each loss is told once. */
  #told: Lease | undefined;
  #unwatch = (): void => {};
  /**
   * Whether a shutdown deposes the leader at once. A `Candidate` sets false: its work ends by itself.
   * @internal
   */
  stepsDown = true;

  /** @internal */
  constructor(
    client: LockClient,
    /** The key of its lock, `leader:<name>`, without the prefix: for `inspect` and `forceRelease`. */
    readonly key: string,
    settings: CallSettings,
  ) {
    super();
    this.#client = client;
    this.#settings = settings;
  }

  /** True while this replica leads, by the lease's deadline on the local clock. Redis is not asked. */
  get leads(): boolean {
    return this.#lease?.held === true && !this.#lease.signal.aborted;
  }

  /** The leader's lease; its `signal` aborts when this replica is deposed. Undefined if this replica does not lead. */
  get lease(): Lease | undefined {
    return this.leads ? this.#lease : undefined;
  }

  /**
   * Resolves to the lease when this replica leads: at once if it already does, else after a wait without a bound. Several calls
   * share one campaign, which ends when the `signal` of each has aborted; this replica then has no place in the queue.
   * @throws `signal.reason`; an AbortError when this replica resigned meanwhile; LockStoreError when Redis fails for longer
   * than `outageWait`; LockShutdownError, LockLimitError, ForeignLockError.
   */
  async campaign({
    signal,
    ...others
  }: { readonly signal?: AbortSignal | undefined } = {}): Promise<Lease> {
    refuseOthers(others);
    throwIfAborted(signal);
    const { lease } = this;
    if (lease) return lease;
    if (!this.#campaign || this.#campaign.withdrawn) this.#campaign = this.#start();
    return this.#campaign.join(signal);
  }

  /**
   * Releases the leader's lease and gives up a campaign under way, so that the next candidate leads at once. Resolves to false
   * if this replica did not lead. Never rejects: if Redis does not answer, the next candidate leads when the ttl is over.
   */
  async resign(): Promise<boolean> {
    const resigned = `This replica resigned before it won the election "${this.key}".`;
    this.#campaign?.withdraw(new DOMException(resigned, 'AbortError'));
    const lease = this.#lease;
    this.#lease = undefined;
    this.#unwatch();
    return lease ? lease.release() : false;
  }

  /** For `await using`: {@link resign}. */
  async [asyncDispose](): Promise<void> {
    await this.resign();
  }

  /**
   * Asks Redis for the leader. Resolves to undefined if nobody leads.
   * @throws LockStoreError when Redis fails.
   */
  async leader(): Promise<Leader | undefined> {
    return (await inspectLock(this.#client, this.key)).holder;
  }

  #start(): Campaign {
    const campaign = new Campaign(async (signal) => {
      try {
        const kept = await this.#confirmed(signal);
        if (kept) {
          campaign.conclude();
          return kept;
        }
        const lease = await this.#client.acquire(this.key, this.#settings, signal);
        if (signal.aborted) {
          await lease.release();
          throw signal.reason;
        }
        campaign.conclude();
        return this.#elected(lease);
      } finally {
        if (this.#campaign === campaign) this.#campaign = undefined;
      }
    });
    return campaign;
  }

  /** Where a sleep or a set clock leaves in doubt whether this replica leads, Redis is asked: else it would queue behind itself. */
  async #confirmed(signal: AbortSignal): Promise<Lease | undefined> {
    const lease = this.#lease as SingleLease | undefined;
    for (let failures = 0; lease && SingleLease.heldLeaseOf(lease).inDoubt; failures += 1) {
      throwIfAborted(signal);
      if (failures > 0) await pause(pauseAfter(failures), this.#client.clock, signal);
      await lease.confirmed();
    }
    return this.lease;
  }

  #elected(lease: Lease): Lease {
    this.#unwatch(); // code may have released the previous lease by hand, and then it is still watched
    this.#lease = lease;
    lease.signal.addEventListener('abort', () => this.#deposed(lease), { once: true });
    const { trace } = SingleLease.heldLeaseOf(lease as SingleLease);
    trace?.unwrap(); // a lead that lasts weeks must not become one span
    this.#tell('elected', lease);
    this.#client.publisher.tell('elected', () => this.#about(lease));
    if (lease.signal.aborted) this.#deposed(lease);
    else if (this.#lease === lease)
      this.#unwatch = this.#client.onStop(() => this.#stepDown(lease));
    return lease;
  }

  /** Tells the leader's work at a shutdown to end. The lease lasts until the leader resigns. */
  #stepDown(lease: Lease): void {
    if (this.stepsDown && lease.held)
      SingleLease.heldLeaseOf(lease as SingleLease).announceLoss('shutdown');
  }

  #deposed(lease: Lease): void {
    if (this.#lease !== lease || this.#told === lease) return;
    this.#told = lease;
    this.#unwatch();
    if (!lease.held) this.#lease = undefined;
    const error = lease.signal.reason as LeaseLostError;
    this.#tell('deposed', error);
    this.#client.publisher.tell('deposed', () => ({
      reason: error.reason,
      ...this.#about(lease),
    }));
  }

  /**
   * Publishes that a call was skipped because this replica does not lead.
   * @internal
   */
  skip(): void {
    const { publisher } = this.#client;
    const subject = (): LockSubject => publisher.subject(this.key, this.#settings);
    publisher.tell('skipped', () => ({ by: 'election', ...subject() }));
  }

  /** The fields of events about this lead. */
  #about(lease: Lease): ElectedEvent {
    const subject = this.#client.publisher.subject(this.key, this.#settings);
    return { token: (lease as SingleLease).token, ...subject };
  }

  /** Emits an event. An error or a rejection of a listener is logged, and does not reach the election. */
  #tell<Event extends keyof ElectionEvents>(event: Event, about: ElectionEvents[Event][0]): void {
    tellEach(this as EventEmitter, event, [about], (error) =>
      logger.error(`A listener of "${event}" in the election of "${this.key}" failed.`, error),
    );
  }
}

/** The prefix of an election's lock key. */
export const ELECTION_PREFIX = 'leader:';

/** The call settings of every election; they override the defaults of the module. */
const ELECTION_CALL = {
  mode: 'exclusive',
  wait: Infinity,
  maxWaiting: Infinity,
  renew: true,
  minHold: 0,
  maxHold: Infinity,
  fencing: true,
  reentrant: false,
  slowWait: Infinity,
  slowHold: Infinity,
  dialect: 'native',
} as const;

/** @throws LockOptionsError for an unknown option or a wrong ttl. */
export function electionSettings(
  key: string,
  { ttl, label, ...others }: ElectionOptions,
  defaults: CallSettings,
): CallSettings {
  refuseOthers(others);
  return callSettings({ ttl, label, ...ELECTION_CALL, name: nameOfKey(key) }, defaults);
}

/** One wait for the lead, shared by all callers of `campaign`. The wait ends when the signal of its last caller aborts. */
class Campaign {
  readonly #withdrawal = new AbortController();
  readonly #won: Promise<Lease>;
  #waiting = 0;
  #concluded = false;

  /** When its signal aborts, `win` must give back a lease and its place in the queue. */
  constructor(win: (signal: AbortSignal) => Promise<Lease>) {
    this.#won = win(this.#withdrawal.signal);
    this.#won.catch(() => {}); // each waiting caller gets the rejection by `join`
  }

  /** True when no caller waits any more; `win` may still be running. */
  get withdrawn(): boolean {
    return this.#withdrawal.signal.aborted;
  }

  /** Resolves when the lead is won; rejects with `signal.reason`, with the reason of the withdrawal, or as `win` does. */
  join(signal: AbortSignal | undefined): Promise<Lease> {
    this.#waiting += 1;
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        if (this.#concluded) return;
        this.#waiting -= 1;
        if (this.#waiting === 0) this.withdraw(signal!.reason);
        reject(signal!.reason);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      const settled = (): void => signal?.removeEventListener('abort', onAbort);
      this.#won.finally(settled).then(resolve, reject);
    });
  }

  /** Marks the lead as won: a later abort has no effect. */
  conclude(): void {
    this.#concluded = true;
  }

  withdraw(reason: unknown): void {
    if (!this.#concluded) this.#withdrawal.abort(reason);
  }
}
