import type { LockError, LossReason } from '../errors/index.js';
import type { Around } from './around.js';

/** The kind of store that keeps the locks of a module. */
export type LockTopology = 'redis' | 'sentinel' | 'cluster' | 'quorum' | 'memory';

/** The fields of every event that describe its lock. */
export interface LockSubject {
  /**
   * A name of few different values, so that it may label a metric. It is the template of a decorator (`account:<id>`),
   * option `name` of a call, the text of ``lockKey`account:${id}` `` as `account:<>`, or `(unnamed)`.
   */
  readonly name: string;
  /** The key without the prefix; of a call for several locks, their keys joined by commas. Too many values for a label. */
  readonly key: string;
  /** The option `label` of the call; under a decorator `Class.method` by default. Too many values for a label of a metric. */
  readonly label: string | undefined;
  /** The mode in which the lock was asked for. */
  readonly mode: 'exclusive' | 'shared' | 'permit';
  /** The kind of store that keeps the module's locks. */
  readonly topology: LockTopology;
  /** The `name` of the module; undefined for the module without a name. */
  readonly module: string | undefined;
}

/** How a call for a lock ended. */
export type AcquireOutcome =
  /** The call got its lease. */
  | 'acquired'
  /** Others held the lock until `wait` was over, or when `tryAcquire` asked. */
  | 'busy'
  /** The caller's `signal` aborted. */
  | 'aborted'
  /** A limit was reached, or the application shuts down. */
  | 'refused'
  /** Redis failed, or the call ended with another error. */
  | 'failed';

/** One call for a lock, or for several together: the context of channel `nest-redis-lock:acquire`. */
export interface AcquireTrace extends LockSubject {
  /** When the call began, in ms, as `performance.now()` says it. */
  readonly startedAt: number;
  /** How long the call may wait, in ms; 0 if it asks once. */
  readonly wait: number;
  /** How the call ended; set before `asyncEnd`. */
  outcome?: AcquireOutcome;
  /** How long the call took, in ms; set before `asyncEnd`. */
  waited?: number;
  /** True once the call was not granted at the first request. */
  queued?: boolean;
  /** The fencing token of the lease; undefined without one, and of several locks. */
  token?: number;
  /** The error with which the call rejects; set before `error`. */
  error?: unknown;
}

/** How a hold ended. */
export type HoldEnd =
  /** The lock was released in time. */
  | 'released'
  /** The lock was lost: `reason` says why. */
  | 'lost'
  /** `handOver()` gave the lock to another process. */
  | 'handedOver'
  /** The lock was given back until a condition is signalled. */
  | 'awaiting';

/** One lock that this process holds, from the grant to the end: the context of channel `nest-redis-lock:hold`. */
export interface HoldTrace extends LockSubject {
  /** When this process began to hold the lock, in ms, as `performance.now()` says it. */
  readonly startedAt: number;
  /** The call that acquired the lock. Undefined for a restored lease, and if nobody listened at the call. */
  readonly acquire: AcquireTrace | undefined;
  /** The hold of this process that handed the lock on in memory. Removed after `asyncEnd`. */
  handedFrom: HoldTrace | undefined;
  /** How long the caller waited for the lock, in ms. */
  readonly waited: number;
  /** The fencing token; undefined for a lease without one. */
  readonly token: number | undefined;
  /** How long the lock was held, in ms; set before `asyncEnd`. */
  held?: number;
  /** How the hold ended; set before `asyncEnd`. */
  end?: HoldEnd;
  /** Why the hold was lost, if it was. */
  reason?: LossReason;
  /**
   * Called by a subscriber at `start`: the bodies of this hold then run inside of `around`, such as a span. The bodies are
   * those of `withLock`, `lease.run` and decorators, with the wrappers of earlier subscribers. A leader's work is not
   * wrapped, since its hold may last for weeks.
   * @example `lockChannels.hold.subscribe({ start: (hold) => hold.wrap((body) => storage.run(hold.key, body)) })`
   */
  wrap(around: Around): void;
}

/** A call got its lease. */
export interface AcquiredEvent extends LockSubject {
  /** How long the call waited, in ms. */
  readonly waited: number;
  readonly queued: boolean;
  readonly token: number | undefined;
}

/** A call was not granted at the first request, and waits. */
export interface ContendedEvent extends LockSubject {
  /** How many entries are before the call in the lock's queue; undefined behind callers of its own process. */
  readonly rank: number | undefined;
}

/** A call for a lock ended without a lease. */
export interface NotAcquiredEvent extends LockSubject {
  /** How long the call waited, in ms. */
  readonly waited: number;
  /** How long the call might have waited, in ms. */
  readonly wait: number;
}

/** A call for a lock failed. */
export interface AcquireFailedEvent extends NotAcquiredEvent {
  readonly error: unknown;
}

/** A call was refused before it could wait, or while it waited. */
export interface RefusedEvent extends NotAcquiredEvent {
  readonly by: 'limit' | 'shutdown';
}

/** A lock that this process held was released. */
export interface ReleasedEvent extends LockSubject {
  /** How long the lock was held, in ms. */
  readonly held: number;
  readonly token: number | undefined;
}

/** A lock that this process held was lost. */
export interface LostEvent extends ReleasedEvent {
  readonly reason: LossReason;
}

/** A renewal failed; the lease lasts for the rest of its time, and the renewal is tried again. */
export interface RenewalFailedEvent extends LockSubject {
  /** The time left of the lease, in ms. */
  readonly left: number;
  /** The error of the renewal; undefined if too few servers of a quorum answered. */
  readonly error: LockError | undefined;
}

/** A lock was handed on: in memory to the next caller of this process, or by `handOver()` to another process. */
export interface HandedOffEvent extends ReleasedEvent {
  readonly to: 'local' | 'process';
}

/** A decorated method did not run: its lock was busy, or this replica does not lead. */
export interface SkippedEvent extends LockSubject {
  readonly by: 'busy' | 'election';
}

/** This replica leads. */
export interface ElectedEvent extends LockSubject {
  readonly token: number | undefined;
}

/** This replica lost the leadership, other than by a resignation. */
export interface DeposedEvent extends ElectedEvent {
  readonly reason: LossReason;
}

/** The outage of a server is over without its return: other nodes of the Cluster have its slots. */
export interface ReplacedEvent {
  /** Host and port, or the path of the socket. */
  readonly server: string;
  readonly topology: LockTopology;
  readonly module: string | undefined;
}

/** The connection to a server of Redis was lost; `connected` or `replaced` follows. */
export interface DisconnectedEvent extends ReplacedEvent {
  /** A code of the operating system (`ECONNREFUSED`), if there is one. */
  readonly cause: string | undefined;
}

/** The connection is back after an outage. */
export interface ConnectedEvent extends ReplacedEvent {
  /** How long the connection was away, in ms. */
  readonly outage: number;
}

/** The events of `LockService.events`, and of the plain channels. */
export interface LockEventMap {
  acquired: [event: AcquiredEvent];
  contended: [event: ContendedEvent];
  timedOut: [event: NotAcquiredEvent];
  aborted: [event: NotAcquiredEvent];
  failed: [event: AcquireFailedEvent];
  refused: [event: RefusedEvent];
  skipped: [event: SkippedEvent];
  released: [event: ReleasedEvent];
  lost: [event: LostEvent];
  renewalFailed: [event: RenewalFailedEvent];
  handedOff: [event: HandedOffEvent];
  elected: [event: ElectedEvent];
  deposed: [event: DeposedEvent];
  connected: [event: ConnectedEvent];
  disconnected: [event: DisconnectedEvent];
  replaced: [event: ReplacedEvent];
}

/** The name of an event. */
export type LockEventName = keyof LockEventMap;
