import { LeaseLostError, LockError, type LossReason } from '../../errors/index.js';
import type { Hold } from '../../events/index.js';
import type { Grant } from '../../locks/lock-store.js';
import type { LockRequest } from '../../locks/lock-request.js';
import { type CallSettings, type Clock, READER, type Share } from '../../options/index.js';
import { SAMPLE_LIFE } from '../../protocol/constants.js';
import type { Due, Scheduled } from './timers.js';
import { deadlineOf, SLACK, type Term, type Validity, validityOf } from '../../locks/validity.js';
import type { Claim } from './claim.js';

/** The callers of this process that wait behind a lease. */
export interface HandOffTarget {
  /** Hands the lease off to another caller of this process in memory; false if the store has to choose the next holder. */
  handOffLocally(heldLease: HeldLease): boolean;
  /** Gives the lease back in the step by which the next caller queues; undefined if nobody waits. */
  giveBackQueueing(heldLease: HeldLease): Promise<boolean> | undefined;
  /** The entries served in memory of which the store does not know; the caller reports them. */
  takeServed(): LockRequest[] | undefined;
  /** The lease is over, for whatever reason. */
  ended(heldLease: HeldLease): void;
}

/** Leases that are renewed together. */
export interface RenewalGroup extends Scheduled {
  /** Takes the lease out of the group. Returns whether it was the last one. */
  leave(heldLease: HeldLease): boolean;
}

/** The reason of a loss, by the store's answer about a lock that is not the holder's any more. */
export const LOSS = { taken: 'taken', free: 'gone', unknown: 'unconfirmed' } as const;

/** The share of a lock whose downgrade is under way; identity tells it apart from a reader's. */
const BECOMING_READER: Share = { ...READER };

/** `closing`: a release or hand-over is under way. `awaiting`: the holder awaits a condition. */
type State = 'held' | 'awaiting' | 'closing' | 'released' | 'lost';

/**
 * The state machine of one lease under one holder id, and the only writer of its fields: held → closing → released, or held
 * → lost. It goes back to held if the store refused the release, the hand-over or the wait for a condition. Its deadline is
 * never later than the server's, on two clocks (validity.ts).
 */
export class HeldLease implements Scheduled {
  private phase: State = 'held';
  /** The server's last answer; leases that are renewed together share one. */
  term: Term;
  /** The latest end that an extension has asked for, in monotonic ms; its answer may come after that to a later renewal. */
  #asked = -Infinity;
  readonly fencingToken: number | undefined;
  /** The lease's place in the watchdog's schedule. */
  due: Due | undefined;
  nth = 0;
  /** The leases that are renewed together with this one. */
  group: RenewalGroup | undefined;
  /** When the first renewal is due, if it has to come early: others may have written over the lock. */
  renewAt = Infinity;
  /** The rest that the server named, in ms, if nobody asked for so much: its clock was set back, or another call had asked. An extension shortens it. */
  overlong: number | undefined;
  /** A renewal was wanted while one was under way, which may have run before: another one follows. */
  again = false;
  /** How many leases callers have on the lock: re-entry adds one, release takes one away. */
  leases = 0;
  /** Called when no caller has a lease any more while the holder awaits a condition. */
  onGivenBack: (() => void) | undefined;
  /** The announced reason of a loss, if there was one. */
  suspected: LossReason | undefined;
  lossReason: LossReason | undefined;
  /** The hold that events tell of, if anybody listened when it began. */
  trace: Hold | undefined;
  #controller: AbortController | undefined;
  /** The latest lease with which the holder went on after conditions, shared by all: a chain would keep each alive. */
  #turns: { latest: HeldLease } | undefined;
  #turnListeners: Set<() => void> | undefined;
  /** Why the last renewal failed, if it did. */
  #failure: LockError | undefined;
  /** How much of the lease was left when it was lost, in ms. */
  #left: number | undefined;
  #used = false;

  constructor(
    readonly claim: Claim,
    public settings: CallSettings,
    grant: Grant,
    private readonly clock: Clock,
    readonly handOffTarget: HandOffTarget | undefined,
    /** When the lease began, in monotonic ms: no earlier than its request. */
    public since = grant.sent.monotonic,
    /** When the lease ends, in monotonic ms, unless it is renewed or extended. */
    public ends = since + settings.ttl,
  ) {
    claim.awaitsNoMore();
    this.fencingToken = grant.fencingToken;
    if (grant.renewIn !== undefined) this.renewAt = grant.sent.monotonic + grant.renewIn;
    this.term = grant;
  }

  /** The lease ends `ttl` ms from now at the latest. True if the server keeps it for longer: its next extension shortens it. */
  cutTo(ttl: number): boolean {
    const { sent, remaining } = this.term;
    const most = this.clock.monotonic() - sent.monotonic + ttl;
    if (remaining <= most) return false;
    this.overlong = remaining;
    this.term = { sent, remaining: most };
    return true;
  }

  /** The same lease for the next caller: with the same deadline, and the next token. */
  successor(call: CallSettings, successors: HandOffTarget): HeldLease {
    const { claim, clock, fencingToken: token, renewAt } = this;
    const { sent, remaining } = this.term;
    const fencingToken = token === undefined ? undefined : token + 1;
    const renewIn = renewAt === Infinity ? undefined : renewAt - sent.monotonic;
    const grant = { kind: 'held', sent, remaining, fencingToken, tokens: 0, renewIn } as const;
    return new HeldLease(claim, call, grant, clock, successors, clock.monotonic());
  }

  get request(): LockRequest {
    return this.claim.request;
  }

  get state(): State {
    return this.phase;
  }

  /** The call for several keys holds them all: its settings hold, and its bounds count, from now on. */
  begin(call: CallSettings): void {
    this.settings = call;
    this.since = this.clock.monotonic();
    this.ends = this.since + call.ttl;
  }

  /** A caller has one more lease on the lock. */
  addLease(): void {
    this.leases += 1;
  }

  /** A caller gave its lease back. `used`: code may have run under it, so a minimum hold counts. */
  dropLease(used: boolean): void {
    this.leases -= 1;
    this.#used ||= used;
    if (this.leases === 0) this.onGivenBack?.();
  }

  /** The rest of the minimum hold, in ms; 0 for a lease that no caller has and under which no code ran. */
  get leastLeft(): number {
    const { minHold } = this.settings;
    if (minHold === 0 || (!this.#used && this.leases <= 0)) return 0;
    return Math.max(0, this.since + minHold - this.clock.monotonic());
  }

  /** This lease, or the one with which its holder went on after a condition. */
  get current(): HeldLease {
    return this.#turns?.latest ?? this;
  }

  beginAwaiting(): void {
    this.phase = 'awaiting';
    this.#tellTurn();
  }

  /** Runs `listener` when the holder awaits a condition or holds the lock again. Returns a function that stops that. */
  whenTurns(listener: () => void): () => void {
    const listeners = (this.#turnListeners ??= new Set());
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  #tellTurn(): void {
    for (const listener of this.#turnListeners ?? []) listener();
  }

  /** The holder has the lock again, as `next`: the leases of its callers and its signal move there. */
  resumeAs(next: HeldLease): void {
    this.phase = 'released';
    this.#turns ??= { latest: next };
    this.#turns.latest = next;
    next.#turns = this.#turns;
    next.leases = this.leases;
    next.#controller = this.#controller;
    this.#tellTurn();
  }

  /** The downgrade is sent: others may share the lock from now on. Returns a function that undoes this. */
  share(): () => void {
    const { request } = this;
    this.claim.request = { ...request, share: BECOMING_READER };
    return () => (this.claim.request = request);
  }

  /** The downgrade is done. */
  shared(): void {
    this.claim.request = { ...this.request, share: READER };
  }

  /** Whether a refusal of this request ends the lease: not if a downgrade may have run before or after it. */
  endsBy({ share }: LockRequest): boolean {
    return share === this.request.share && share !== BECOMING_READER;
  }

  /** A push names the reason of a loss; the server is asked whether it is true. */
  suspect(reason: LossReason): void {
    this.suspected = reason;
  }

  /** A release or hand-over begins. */
  close(): void {
    this.phase = 'closing';
  }

  /** The lease was not given back after all. */
  undoRelease(): void {
    this.phase = 'held';
    this.#tellTurn();
  }

  /** The holder awaits the condition no more, and does not want the lock back. */
  endUnclaimed(): void {
    this.phase = 'released';
    this.lossReason = 'awaiting';
  }

  /** As much of `ms` as the longest hold leaves, or as the lease lasts already: no extension goes further. */
  withinMaxHold(ms: number): number {
    const end = Math.max(this.since + this.settings.maxHold, this.deadline);
    return Math.min(ms, Math.max(1, Math.floor(end - this.clock.monotonic())));
  }

  /** The request for `ttl` ms from now on. One that shortens the lease asks for as long as it is known to last. */
  extension(ttl: number): LockRequest {
    const { request, overlong } = this;
    const now = this.clock.monotonic();
    this.#asked = Math.max(this.#asked, now + ttl);
    if (overlong !== undefined) return { ...request, ttl: this.#longest(ttl, now), overlong };
    return request.ttl === ttl ? request : { ...request, ttl };
  }

  /** How long the lease lasts at `now` after a request for `ttl` ms: longer, if it did before or was asked to. */
  #longest(ttl: number, now: number): number {
    const { sent, remaining } = this.term;
    const end = Math.max(sent.monotonic + remaining, this.#asked);
    return Math.max(ttl, Math.ceil(end - now - 0.001)); // doubles round: that is no ms more
  }

  /** Takes the server's answer to this request. A much longer lease is believed only of a server that was to shorten it. */
  confirm(term: Term, { ttl, overlong = Infinity }: LockRequest): void {
    const most = this.#longest(ttl, term.sent.monotonic) + SLACK;
    const isOverlong = term.remaining > most && term.remaining <= overlong - SAMPLE_LIFE; // a server that was told too late has shortened nothing
    this.overlong = isOverlong ? term.remaining : undefined;
    if (!isOverlong) this.term = term;
  }

  /** Takes the answer to a renewal. Later renewals need not come early: no client that lost a take-over overwrites the lock any more. */
  renewed(term: Term, asked: LockRequest): void {
    if (!this.again) this.suspected = undefined;
    this.#failure = undefined;
    if (term.sent.monotonic >= this.renewAt) this.renewAt = Infinity;
    this.confirm(term, asked);
  }

  /** A renewal failed: the known deadline stands. */
  notRenewed(error: unknown): void {
    if (error instanceof LockError) this.#failure = error;
  }

  /** The last moment of the lease, in monotonic ms. */
  get deadline(): number {
    return deadlineOf(this.term);
  }

  /** The deadline on the wall clock, as that clock was when the server was asked. */
  get wallDeadline(): number {
    return this.deadline + (this.term.sent.wall - this.term.sent.monotonic);
  }

  /** How long the store may still keep the lease, in ms: longer than requested if it was extended or handed off. */
  get lasts(): number {
    const { request, settings, overlong = 0, deadline } = this;
    const end = Math.max(deadline, this.#asked);
    return Math.max(request.ttl, settings.ttl, overlong, end - this.clock.monotonic());
  }

  /** The validity of the lease by both clocks. */
  get validity(): Validity {
    return validityOf(this.term, this.clock);
  }

  /** True while nobody else can hold the lock. It reads the clocks, and depends on no timer. */
  get held(): boolean {
    return this.phase === 'held' && this.validity === 'valid';
  }

  /** Whether only the server knows if the lease is held: the machine slept, or its clock was set. */
  get inDoubt(): boolean {
    return this.phase === 'held' && this.validity === 'doubtful';
  }

  /** Aborts with the `LeaseLostError` when the lease is lost. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.lossReason) this.#controller.abort(this.lossError());
    }
    return this.#controller.signal;
  }

  /**
   * Marks the lease as lost; false if it was over before. `gone` means too soon: a lease that the server forgot in time has
   * expired. If the server's answer came too soon as well, the reason that a push announced counts.
   */
  lose(reason: LossReason): boolean {
    if (this.phase === 'released' || this.phase === 'lost') return false;
    const early = this.validity === 'valid';
    const answered = reason === 'gone' || reason === 'taken';
    if (answered && early) this.lossReason = this.suspected ?? reason;
    else this.lossReason = reason === 'gone' ? 'expired' : reason;
    this.#left = this.deadline - this.clock.monotonic();
    this.phase = 'lost';
    this.#controller?.abort(this.lossError());
    return true;
  }

  /** Tells the code under the lease, before the lease is given back, that it loses the lease. The lease is still held. */
  announceLoss(reason: LossReason): void {
    this.#controller?.abort(new LeaseLostError(this.request.key, reason));
  }

  /** The lease was given back; `lost` says why that came too late, if it did. */
  end(lost?: LossReason): void {
    this.phase = 'released';
    if (lost) this.lossReason ??= lost === 'gone' ? (this.suspected ?? lost) : lost;
  }

  /** The error that says why the lease is not held. `returned`: the caller gave its own lease back. */
  lossError(returned = false): LeaseLostError {
    const reason = this.lossReason ?? this.#presentReason(returned);
    const left = reason === 'gone' ? this.#left : undefined;
    const cause = reason === 'expired' ? this.#failure : undefined;
    return new LeaseLostError(this.request.key, reason, left, cause);
  }

  #presentReason(returned: boolean): LossReason {
    if (this.phase === 'awaiting') return 'awaiting';
    if (this.phase !== 'held') return 'released';
    if (this.inDoubt) return 'unconfirmed';
    if (this.validity !== 'valid') return 'expired';
    return returned ? 'released' : 'gone';
  }
}
