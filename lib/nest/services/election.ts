import { EventEmitter } from 'node:events';
import type { LeaseLostError } from '../../engine/errors/index.js';
import { type ElectedEvent, type LockSubject, tellEach } from '../../engine/events/index.js';
import type { Lease } from '../../engine/client/lease.js';
import type { LockClient } from '../../engine/client/lock-client.js';
import { SingleLease } from '../../engine/client/single-lease.js';
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
}

/** The leader that Redis knows. */
export interface Leader extends LockParty {
  readonly since?: Date;
}

/** The events of an {@link Election}. */
export interface ElectionEvents {
  /** This replica leads from now on. */
  elected: [lease: Lease];
  /** This replica leads no more, without a resignation: its lease was lost, or the application shuts down. End the work and resign. */
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
  #campaign: Campaign<Lease> | undefined;
  #lease: Lease | undefined;
  /** The last one whose end was told. */
  #told: Lease | undefined;
  #unwatch = (): void => {};
  /**
   * Whether the leader is told at once that its application shuts down; else its work ends by itself.
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

  /** True while this replica leads. Looks at the clocks, not at Redis. */
  get leads(): boolean {
    return this.#lease?.held === true && !this.#lease.signal.aborted;
  }

  /** What this replica leads under; `lease.signal` aborts when it is deposed. Undefined if it does not lead. */
  get lease(): Lease | undefined {
    return this.leads ? this.#lease : undefined;
  }

  /**
   * Resolves when this replica leads: at once if it does already, else however long that takes. Several calls
   * share one campaign; it is given up when the `signal` of each has aborted.
   * @throws `signal.reason`; an AbortError when it resigned meanwhile; LockStoreError when Redis fails for
   * longer than `outageWait`; LockShutdownError, LockLimitError, ForeignLockError.
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
   * Leads no more, and gives up a campaign under way: the next one leads at once. False if this replica
   * did not lead. Rejects never: when Redis does not answer, the next one leads after the ttl.
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
   * Who leads, asked of Redis; undefined if nobody does.
   * @throws LockStoreError when Redis fails.
   */
  async leader(): Promise<Leader | undefined> {
    return (await inspectLock(this.#client, this.key)).holder;
  }

  #start(): Campaign<Lease> {
    const campaign = new Campaign(async (signal) => {
      try {
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

  #elected(lease: Lease): Lease {
    this.#unwatch(); // the lease before may have been given back by hand
    this.#lease = lease;
    lease.signal.addEventListener('abort', () => this.#deposed(lease), { once: true });
    const { trace } = SingleLease.heldLeaseOf(lease as SingleLease);
    trace?.unwrap(); // what is done in weeks belongs into no single span
    this.#tell('elected', lease);
    this.#client.publisher.tell('elected', () => this.#about(lease));
    if (lease.signal.aborted) this.#deposed(lease);
    else if (this.#lease === lease)
      this.#unwatch = this.#client.onStop(() => this.#stepDown(lease));
    return lease;
  }

  /** The application shuts down: the leader's work is told to end, and the lease lasts until it has resigned. */
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
   * Tells that work was left out, for this replica does not lead.
   * @internal
   */
  skip(): void {
    const { publisher } = this.#client;
    const subject = (): LockSubject => publisher.subject(this.key, this.#settings);
    publisher.tell('skipped', () => ({ by: 'election', ...subject() }));
  }

  /** What events say of its lead. */
  #about(lease: Lease): ElectedEvent {
    const subject = this.#client.publisher.subject(this.key, this.#settings);
    return { token: (lease as SingleLease).token, ...subject };
  }

  /** What a listener throws, or its promise rejects with, is logged and no part of the election. */
  #tell<Event extends keyof ElectionEvents>(event: Event, about: ElectionEvents[Event][0]): void {
    tellEach(this as EventEmitter, event, [about], (error) =>
      logger.error(`A listener of "${event}" in the election of "${this.key}" failed.`, error),
    );
  }
}

/** What stands before the name of an election to make the key of its lock. */
export const ELECTION_PREFIX = 'leader:';

/** How an election holds its lock, whatever the defaults of the module are. */
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

/** @throws LockOptionsError for what is no option of an election, and for a wrong ttl. */
export function electionSettings(
  key: string,
  { ttl, ...others }: ElectionOptions,
  defaults: CallSettings,
): CallSettings {
  refuseOthers(others);
  return callSettings({ ttl, ...ELECTION_CALL, name: nameOfKey(key) }, defaults);
}

/** One wait for something, shared by all callers that ask for it meanwhile. It is given up when the last of them has gone. */
class Campaign<Won> {
  readonly #withdrawal = new AbortController();
  readonly #won: Promise<Won>;
  #waiting = 0;
  #concluded = false;

  /** `win` leaves nothing behind when its signal has aborted. */
  constructor(win: (signal: AbortSignal) => Promise<Won>) {
    this.#won = win(this.#withdrawal.signal);
    this.#won.catch(() => {}); // the callers that wait are told
  }

  /** Nobody waits for it any more; it may not have come to its end yet. */
  get withdrawn(): boolean {
    return this.#withdrawal.signal.aborted;
  }

  /** Resolves when it is won; rejects with `signal.reason`, with the reason of the withdrawal, or as `win` does. */
  join(signal: AbortSignal | undefined): Promise<Won> {
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

  /** It is won: from now on an abort comes too late. */
  conclude(): void {
    this.#concluded = true;
  }

  withdraw(reason: unknown): void {
    if (!this.#concluded) this.#withdrawal.abort(reason);
  }
}
