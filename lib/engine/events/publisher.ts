import {
  LockError,
  LockLimitError,
  LockNotAcquiredError,
  LockShutdownError,
  type LossReason,
} from '../errors/index.js';
import { type Clock, isReader } from '../options/index.js';
import { Hold } from './hold.js';
import { keyLabels } from './key-labels.js';
import { lockChannels, someHearCalls, someHearHolds } from './lock-channels.js';
import type {
  AcquireOutcome,
  AcquireTrace,
  HoldEnd,
  HoldTrace,
  LockEventMap,
  LockEventName,
  LockSubject,
  LostEvent,
} from './lock-event.js';
import { LockEvents } from './lock-events.js';
import { type Held, nameOf, type Origin, type Wanted } from './subject.js';

/** The reports for an operator's log, which are made whether anybody listens or not. */
export interface Reports {
  lost(event: LostEvent): void;
  slowWait(trace: AcquireTrace): void;
  /** A hold has become slow, or a slow one has ended; `held`: its time so far, in ms. */
  slowHold(trace: HoldTrace, held: number): void;
  /** A listener of the emitter threw, or its promise rejected. */
  listenerFailed(event: string, error: unknown): void;
}

/**
 * Tells of the locks of one module, on the channels and by its emitter. For what happens to every lock, callers first ask
 * whether anybody listens.
 */
export class Publisher {
  #emitter: LockEvents | undefined;
  /** Functions that call off the report of each hold that is not slow yet. */
  readonly #slow = new Map<HoldTrace, () => void>();

  constructor(
    readonly origin: Origin,
    private readonly clock: Clock,
    private readonly reports?: Reports,
  ) {}

  /** The emitter, made when somebody first asks for it. */
  get emitter(): LockEvents {
    if (!this.#emitter) {
      keyLabels.want();
      this.#emitter = new LockEvents((...failure) => this.reports?.listenerFailed(...failure));
    }
    return this.#emitter;
  }

  /** Whether a call for a lock has to be told of, from its begin. */
  hearsCall({ slowWait }: Wanted): boolean {
    return someHearCalls() || this.#emits || slowWait !== Infinity;
  }

  /** Whether a hold has to be told of, from its begin. */
  hearsHold({ slowHold, untold }: Wanted): boolean {
    return !untold && (someHearHolds() || this.#emits || slowHold !== Infinity);
  }

  get #emits(): boolean {
    return this.#emitter !== undefined && this.#emitter.eventNames().length > 0;
  }

  /** Tells of a call from its begin to its end; `ask` makes the call, and throws nothing. */
  call<Lease extends { readonly token: number | undefined }>(
    asked: string | readonly string[],
    wanted: Wanted & { readonly wait: number },
    signal: AbortSignal | undefined,
    tries: boolean,
    ask: (trace: AcquireTrace) => Promise<Lease>,
  ): Promise<Lease> {
    const { start, end, error: failure } = lockChannels.acquire;
    const trace: AcquireTrace = {
      startedAt: this.clock.monotonic(),
      wait: wanted.wait,
      outcome: undefined,
      waited: undefined,
      queued: undefined,
      token: undefined,
      ...this.subject(asked, wanted), // behind the call's own fields, as in `aboutOf`
    };
    const coming = start.runStores(trace, ask, undefined, trace);
    end.publish(trace);
    return coming.then(
      (lease) => {
        const { token } = lease;
        if (token !== undefined) trace.token = token;
        this.#endCall(trace, wanted, 'acquired');
        return lease;
      },
      (error: unknown) => {
        const outcome = outcomeOf(error, signal);
        if (!tries || outcome !== 'busy') {
          trace.error = error;
          failure.publish(trace);
        }
        this.#endCall(trace, wanted, outcome, error);
        throw error;
      },
    );
  }

  /** A lock of the call was not granted at the first request; told once for each call. */
  contended(trace: AcquireTrace | undefined, key: string, rank?: number): void {
    if (!trace || trace.queued) return;
    trace.queued = true;
    this.tell('contended', () => ({ rank, ...aboutOf(trace), key }));
  }

  /**
   * Tells that this process holds a lock from now on, unless that was told. `acquire`: the call that acquired it;
   * `handedFrom`: the hold before it.
   */
  hold(held: Held, waited: number, acquire?: AcquireTrace, handedFrom?: HoldTrace): void {
    if (held.trace && held.trace.end === undefined) return;
    const { start, end } = lockChannels.hold;
    // A hold has the name of its call, unless it is one of several.
    const isAll = acquire !== undefined && acquire.key === held.request.key;
    const subject = isAll ? acquire : this.#subjectOf(held);
    const now = this.clock.monotonic();
    const trace = new Hold(subject, now, acquire, handedFrom, waited, held.fencingToken);
    held.trace = trace;
    this.#watch(trace, held.settings.slowHold);
    start.publish(trace);
    end.publish(trace);
  }

  /** Tells that a hold is over. `to`: who goes on with the lock. */
  holdEnded(held: Held, end: HoldEnd, reason?: LossReason, to?: 'local' | 'process'): void {
    const { trace, fencingToken: token, settings } = held;
    if (settings.untold) return;
    const heldFor = this.clock.monotonic() - (trace?.startedAt ?? held.since);
    if (trace && trace.end === undefined) {
      const { asyncStart, asyncEnd } = lockChannels.hold;
      trace.held = heldFor;
      trace.end = end;
      this.#unwatch(trace, heldFor, settings.slowHold);
      if (reason !== undefined) trace.reason = reason;
      asyncStart.publish(trace);
      asyncEnd.publish(trace);
      trace.handedFrom = undefined; // with this link, each hold would keep all earlier ones in memory
    }
    const about = (): LockSubject => (trace ? aboutOf(trace) : this.#subjectOf(held));
    if (to) this.tell('handedOff', () => ({ to, held: heldFor, token, ...about() }));
    if (end === 'released') this.tell('released', () => ({ held: heldFor, token, ...about() }));
    if (end !== 'lost') return;
    const lost = { reason: reason!, held: heldFor, token, ...about() };
    this.tell('lost', () => lost);
    this.reports?.lost(lost);
  }

  /** A renewal failed; the time `left` of the lease, in ms, stands. */
  renewalFailed(held: Held, left: number, error: unknown): void {
    if (held.settings.untold) return;
    const cause = error instanceof LockError ? error : undefined;
    this.tell('renewalFailed', () => ({ left, error: cause, ...this.#subjectOf(held) }));
  }

  /** Publishes an event, if somebody listens to it. */
  tell<Name extends LockEventName>(name: Name, event: () => LockEventMap[Name][0]): void {
    const channel = lockChannels[name];
    const emitter = this.#emitter;
    const emits = emitter !== undefined && emitter.listenerCount(name) > 0;
    if (!channel.hasSubscribers && !emits) return;
    const told = event();
    channel.publish(told);
    if (emits) emitter.emit(name, told);
  }

  /** The description of a lock, or of several together, in events. */
  subject(asked: string | readonly string[], { name, label, share }: Wanted): LockSubject {
    const { topology, module } = this.origin;
    const mode = !share ? 'exclusive' : isReader(share) ? 'shared' : 'permit';
    const key = typeof asked === 'string' ? asked : asked.join(', ');
    return { name: name ?? nameOf(asked), key, label, mode, topology, module };
  }

  #endCall(
    trace: AcquireTrace,
    { slowWait }: Wanted,
    outcome: AcquireOutcome,
    error?: unknown,
  ): void {
    const { asyncStart, asyncEnd } = lockChannels.acquire;
    const { wait, token } = trace;
    const waited = this.clock.monotonic() - trace.startedAt;
    trace.outcome = outcome;
    trace.waited = waited;
    asyncStart.publish(trace);
    asyncEnd.publish(trace);
    if (waited > slowWait) this.reports?.slowWait(trace);
    const queued = trace.queued === true;
    const by = error instanceof LockShutdownError ? 'shutdown' : 'limit';
    switch (outcome) {
      case 'acquired':
        return this.tell('acquired', () => ({ waited, queued, token, ...aboutOf(trace) }));
      case 'busy':
        return this.tell('timedOut', () => ({ waited, wait, ...aboutOf(trace) }));
      case 'aborted':
        return this.tell('aborted', () => ({ waited, wait, ...aboutOf(trace) }));
      case 'refused':
        return this.tell('refused', () => ({ waited, wait, by, ...aboutOf(trace) }));
      case 'failed':
        return this.tell('failed', () => ({ waited, wait, error, ...aboutOf(trace) }));
    }
  }

  #subjectOf({ request, settings }: Held): LockSubject {
    return this.subject(request.key, settings);
  }

  #watch(trace: HoldTrace, slowHold: number): void {
    if (slowHold === Infinity) return;
    const cancel = this.clock.after(slowHold, () => {
      this.#slow.delete(trace);
      this.reports?.slowHold(trace, this.clock.monotonic() - trace.startedAt);
    });
    this.#slow.set(trace, cancel);
  }

  #unwatch(trace: HoldTrace, held: number, slowHold: number): void {
    if (slowHold === Infinity) return;
    this.#slow.get(trace)?.();
    if (!this.#slow.delete(trace)) this.reports?.slowHold(trace, held);
  }
}

/** The fields of a trace in every event, behind the event's own: V8 takes a hundred times longer otherwise. */
function aboutOf({ name, key, label, mode, topology, module }: LockSubject): LockSubject {
  return { name, key, label, mode, topology, module };
}

function outcomeOf(error: unknown, signal: AbortSignal | undefined): AcquireOutcome {
  if (error instanceof LockNotAcquiredError) return 'busy';
  if (error instanceof LockLimitError || error instanceof LockShutdownError) return 'refused';
  return signal?.aborted && error === signal.reason ? 'aborted' : 'failed';
}
