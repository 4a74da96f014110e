import {
  LockLimitError,
  LockNotAcquiredError,
  LockShutdownError,
  type LossReason,
} from '../errors/index.js';
import { type Clock, isReader, type Share } from '../options/index.js';
import { lockChannels, someHearCalls, someHearHolds } from './lock-channels.js';
import type {
  AcquireOutcome,
  AcquireTrace,
  HoldEnd,
  HoldTrace,
  LockEventMap,
  LockEventName,
  LockSubject,
  LockTopology,
  ReleasedEvent,
} from './lock-event.js';
import { LockEvents } from './lock-events.js';

/** Of which module the events are. */
export interface Origin {
  readonly topology: LockTopology;
  readonly module?: string | undefined;
}

/** How a lock is asked for, as far as events say it. */
export interface Wanted {
  readonly name: string | undefined;
  readonly share: Share | undefined;
}

/** What of a hold events are made of. */
export interface Held {
  readonly request: { readonly key: string };
  readonly settings: Wanted;
  readonly fencingToken: number | undefined;
  /** In monotonic ms. */
  readonly since: number;
  readonly trace: HoldTrace | undefined;
  tracedAs(trace: HoldTrace): void;
}

/** What a call for a lock brings. */
interface Granted {
  readonly token: number | undefined;
}

/** The name of a lock that nobody gave one. */
const UNNAMED = '(unnamed)';

/**
 * Tells of the locks of one module: on the channels, and by its emitter. Whoever calls it has asked before whether anybody
 * listens, where that happens for every lock.
 */
export class Publisher {
  #emitter: LockEvents | undefined;

  constructor(
    private readonly origin: Origin,
    private readonly clock: Clock,
    /** Called with what a listener of the emitter threw. */
    private readonly listenerFailed: (event: string, error: unknown) => void = () => {},
  ) {}

  /** Made when somebody asks for it. */
  get emitter(): LockEvents {
    return (this.#emitter ??= new LockEvents(this.listenerFailed));
  }

  /** Whether a call for a lock is to be told of, from its begin. */
  get hearsCalls(): boolean {
    return someHearCalls() || this.#emits;
  }

  /** Whether a hold is to be told of, from its begin. */
  get hearsHolds(): boolean {
    return someHearHolds() || this.#emits;
  }

  get #emits(): boolean {
    return this.#emitter !== undefined && this.#emitter.eventNames().length > 0;
  }

  /** Tells of a call from its begin to its end; `ask` does it. */
  async call<Lease extends Granted>(
    key: string,
    wanted: Wanted & { readonly wait: number },
    signal: AbortSignal | undefined,
    tries: boolean,
    ask: (trace: AcquireTrace) => Promise<Lease>,
  ): Promise<Lease> {
    const { start, end, error: failure } = lockChannels.acquire;
    const startedAt = this.clock.monotonic();
    const trace: AcquireTrace = { ...this.#subject(key, wanted), startedAt, wait: wanted.wait };
    try {
      const coming = start.runStores(trace, ask, undefined, trace);
      end.publish(trace);
      const lease = await coming;
      const { token } = lease;
      if (token !== undefined) trace.token = token;
      this.#endCall(trace, 'acquired');
      return lease;
    } catch (error) {
      const outcome = outcomeOf(error, signal);
      if (!tries || outcome !== 'busy') {
        trace.error = error;
        failure.publish(trace);
      }
      this.#endCall(trace, outcome, error);
      throw error;
    }
  }

  /** A lock of the call was not granted at the first ask; told once of each call. */
  contended(trace: AcquireTrace | undefined, key: string, rank?: number): void {
    if (!trace || trace.queued) return;
    trace.queued = true;
    const { name, mode, topology, module } = trace;
    this.#tell('contended', () => ({ name, key, mode, topology, module, rank }));
  }

  /**
   * This process holds a lock from now on, unless that was told. `acquire`: the call that acquired it; `handedFrom`: the hold
   * before it.
   */
  hold(held: Held, waited: number, acquire?: AcquireTrace, handedFrom?: HoldTrace): void {
    if (held.trace && held.trace.end === undefined) return;
    const { start, end } = lockChannels.hold;
    const startedAt = this.clock.monotonic();
    const { fencingToken: token } = held;
    const trace: HoldTrace = {
      ...this.#subjectOf(held),
      startedAt,
      acquire,
      handedFrom,
      waited,
      token,
    };
    held.tracedAs(trace);
    start.publish(trace);
    end.publish(trace);
  }

  /** A hold is over. `to`: who goes on with it. */
  holdEnded(held: Held, end: HoldEnd, reason?: LossReason, to?: 'local' | 'process'): void {
    const { trace, fencingToken: token } = held;
    const heldFor = this.clock.monotonic() - (trace?.startedAt ?? held.since);
    if (trace && trace.end === undefined) {
      const { asyncStart, asyncEnd } = lockChannels.hold;
      trace.held = heldFor;
      trace.end = end;
      if (reason !== undefined) trace.reason = reason;
      asyncStart.publish(trace);
      asyncEnd.publish(trace);
      trace.handedFrom = undefined; // or each hold would keep all before it
    }
    const over = (): ReleasedEvent => ({ ...this.#subjectOf(held), held: heldFor, token });
    if (to) this.#tell('handedOff', () => ({ ...over(), to }));
    if (end === 'released') this.#tell('released', over);
    else if (end === 'lost') this.#tell('lost', () => ({ ...over(), reason: reason! }));
  }

  #endCall(trace: AcquireTrace, outcome: AcquireOutcome, error?: unknown): void {
    const { asyncStart, asyncEnd } = lockChannels.acquire;
    const { name, key, mode, topology, module, wait, token } = trace;
    const waited = this.clock.monotonic() - trace.startedAt;
    trace.outcome = outcome;
    trace.waited = waited;
    asyncStart.publish(trace);
    asyncEnd.publish(trace);
    const subject = { name, key, mode, topology, module };
    const queued = trace.queued === true;
    const by = error instanceof LockShutdownError ? 'shutdown' : 'limit';
    switch (outcome) {
      case 'acquired':
        return this.#tell('acquired', () => ({ ...subject, waited, queued, token }));
      case 'busy':
        return this.#tell('timedOut', () => ({ ...subject, waited, wait }));
      case 'aborted':
        return this.#tell('aborted', () => ({ ...subject, waited, wait }));
      case 'refused':
        return this.#tell('refused', () => ({ ...subject, waited, wait, by }));
      case 'failed':
        return this.#tell('failed', () => ({ ...subject, waited, wait, error }));
    }
  }

  #subjectOf({ request, settings }: Held): LockSubject {
    return this.#subject(request.key, settings);
  }

  #subject(key: string, { name, share }: Wanted): LockSubject {
    const { topology, module } = this.origin;
    const mode = !share ? 'exclusive' : isReader(share) ? 'shared' : 'permit';
    return { name: name ?? UNNAMED, key, mode, topology, module };
  }

  /** Publishes an event, if somebody listens to it. */
  #tell<Name extends LockEventName>(name: Name, event: () => LockEventMap[Name][0]): void {
    const channel = lockChannels[name];
    const emitter = this.#emitter;
    const emits = emitter !== undefined && emitter.listenerCount(name) > 0;
    if (!channel.hasSubscribers && !emits) return;
    const told = event();
    channel.publish(told);
    if (emits) emitter.emit(name, told);
  }
}

function outcomeOf(error: unknown, signal: AbortSignal | undefined): AcquireOutcome {
  if (error instanceof LockNotAcquiredError) return 'busy';
  if (error instanceof LockLimitError || error instanceof LockShutdownError) return 'refused';
  return signal?.aborted && error === signal.reason ? 'aborted' : 'failed';
}
