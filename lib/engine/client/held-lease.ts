import { LeaseLostError, LockError, type LossReason } from '../errors/index.js';
import type { Hold } from '../events/index.js';
import type { Grant } from '../locks/lock-store.js';
import type { LockRequest } from '../locks/lock-request.js';
import { type CallSettings, type Clock, READER, type Share } from '../options/index.js';
import type { Due, Scheduled } from './timers.js';
import { deadlineOf, type Term, type Validity, validityOf } from '../locks/validity.js';
import type { Claim } from './claim.js';

/** The callers of this process that wait behind a lease. */
export interface HandOffTarget {
  /** Hands the lease to one of them in memory; false if the store has to do it. */
  handOffLocally(heldLease: HeldLease): boolean;
  /** Gives the lease back in the step by which they queue; undefined if nobody waits. */
  giveBackQueueing(heldLease: HeldLease): Promise<boolean> | undefined;
  /** The entries that were served in memory, of which the store does not know: the caller reports them. */
  takeServed(): LockRequest[] | undefined;
  /** The lease is over, whatever way. */
  ended(heldLease: HeldLease): void;
}

/** Leases that are renewed together. */
export interface RenewalGroup extends Scheduled {
  /** The lease is renewed apart from the others from now on, or not at all. Returns whether it was the last. */
  leave(heldLease: HeldLease): boolean;
}

/** By the store's answer about a lock that is not its holder's any more: the reason of the loss. */
export const LOSS = { taken: 'taken', free: 'gone', unknown: 'unconfirmed' } as const;

/** Of a lock whose downgrade is under way; told apart from a reader's by identity. */
const BECOMING_READER: Share = { ...READER };

/** By how much a lease may outlast what was asked for, in ms: the server took the step before at last, and this one at once. */
export const SLACK = 1_000;

/** `closing`: its release or hand-over is under way. `awaiting`: its holder awaits a condition. */
type State = 'held' | 'awaiting' | 'closing' | 'released' | 'lost';

/**
 * A lock that this process holds under one holder id, from its grant to its end. The state machine of a lease, and the only
 * writer of its fields: held → closing → released, or held → lost. It goes back to held where the store refused the
 * release, the hand-over or the wait for a condition.
 *
 * It believes no later deadline than the server's, on two clocks (validity.ts).
 */
export class HeldLease implements Scheduled {
  private phase: State = 'held';
  /** The server's last answer; of leases that are renewed together one for all. */
  term: Term;
  readonly fencingToken: number | undefined;
  /** Where the watchdog's schedule has it. */
  due: Due | undefined;
  nth = 0;
  /** With whom it is renewed. */
  group: RenewalGroup | undefined;
  /** When the first renewal is due, if its turn is not soon enough: others may have written over the lock. */
  renewAt = Infinity;
  /** What the server said last, in ms, if nobody had asked for so much: its clock was set back. The next extension shortens the lease. */
  overlong: number | undefined;
  /** It was to be asked for while its renewal was under way: that may have run before, so another one follows. */
  again = false;
  /** How many leases of callers stand on it: re-entry adds, release takes away. */
  leases = 0;
  /** Its holder awaits a condition: called when no lease of a caller stands on it any more. */
  onGivenBack: (() => void) | undefined;
  /** What loss was announced as, if it was. */
  suspected: LossReason | undefined;
  lossReason: LossReason | undefined;
  /** What events say of it, if anybody listened when it began. */
  trace: Hold | undefined;
  #controller: AbortController | undefined;
  /** Of all that its holder went on as, one after the other: the latest. A chain of them would keep each. */
  #turns: { latest: HeldLease } | undefined;
  #turnListeners: Set<() => void> | undefined;
  /** Why its last renewal failed, if it did. */
  #failure: LockError | undefined;
  /** What was left of its time when it was lost, in ms. */
  #left: number | undefined;
  #used = false;

  constructor(
    readonly claim: Claim,
    public settings: CallSettings,
    grant: Grant,
    private readonly clock: Clock,
    readonly handOffTarget: HandOffTarget | undefined,
    /** The first moment of the lease as we may count it. */
    public since = grant.sent.monotonic,
  ) {
    claim.awaitsNoMore();
    this.fencingToken = grant.fencingToken;
    if (grant.renewIn !== undefined) this.renewAt = grant.sent.monotonic + grant.renewIn;
    this.term = grant;
  }

  /** The same lease in the hands of the next caller: no longer than it lasts, with the next token. */
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

  /** Events tell of it as this. */
  tracedAs(trace: Hold): void {
    this.trace = trace;
  }

  /** The call for several keys holds them all: what counts from the grant counts from now on, as the call wants it. */
  begin(call: CallSettings): void {
    this.settings = call;
    this.since = this.clock.monotonic();
  }

  /** One more lease of a caller stands on it. */
  addLease(): void {
    this.leases += 1;
  }

  /** A caller gave its lease back. `used`: it may have worked under the lease, so a minimum hold counts. */
  dropLease(used: boolean): void {
    this.leases -= 1;
    this.#used ||= used;
    if (this.leases === 0) this.onGivenBack?.();
  }

  /** What is left of its minimum hold, in ms; nothing for a lease that nobody has and nobody worked under. */
  get leastLeft(): number {
    const { minHold } = this.settings;
    if (minHold === 0 || (!this.#used && this.leases <= 0)) return 0;
    return Math.max(0, this.since + minHold - this.clock.monotonic());
  }

  /** This, or what its holder went on as when a condition had been signalled. */
  get current(): HeldLease {
    return this.#turns?.latest ?? this;
  }

  /** Its holder awaits a condition. */
  beginAwaiting(): void {
    this.phase = 'awaiting';
    this.#tellTurn();
  }

  /** `listener` runs when its holder begins to await a condition, or holds the lock again, unless it is called off before. */
  whenTurns(listener: () => void): () => void {
    const listeners = (this.#turnListeners ??= new Set());
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  #tellTurn(): void {
    for (const listener of this.#turnListeners ?? []) listener();
  }

  /** The condition was signalled: the leases of its callers and its signal stand on the other from now on. */
  resumeAs(next: HeldLease): void {
    this.phase = 'released';
    this.#turns ??= { latest: next };
    this.#turns.latest = next;
    next.resume(this);
    this.#tellTurn();
  }

  private resume(before: HeldLease): void {
    this.#turns = before.#turns;
    this.leases = before.leases;
    this.#controller = before.#controller;
  }

  /** Its downgrade is sent: others may share it from now on. Returns how to undo this. */
  share(): () => void {
    const { request } = this;
    this.claim.request = { ...request, share: BECOMING_READER };
    return () => (this.claim.request = request);
  }

  /** Its downgrade is done. */
  shared(): void {
    this.claim.request = { ...this.request, share: READER };
  }

  /** Whether a refusal of this ends the lease: not where it may have run on the other side of the downgrade, sent again say. */
  endsBy({ share }: LockRequest): boolean {
    return share === this.request.share && share !== BECOMING_READER;
  }

  /** A push names the reason of a loss; the server is asked whether it is true. */
  suspect(reason: LossReason): void {
    this.suspected = reason;
  }

  /** Its release or hand-over begins. */
  close(): void {
    this.phase = 'closing';
  }

  /** It was not given back after all. */
  undoRelease(): void {
    this.phase = 'held';
    this.#tellTurn();
  }

  /** Its holder awaits the condition no more, and does not want it back. */
  endUnclaimed(): void {
    this.phase = 'released';
    this.lossReason = 'awaiting';
  }

  /** As much of `ms` as its longest hold leaves, or as it lasts already: no extension goes further. */
  withinMaxHold(ms: number): number {
    const end = Math.max(this.since + this.settings.maxHold, this.deadline);
    return Math.min(ms, Math.max(1, Math.floor(end - this.clock.monotonic())));
  }

  /** What asks for `ttl` ms from now on; where the lease has to be shortened, for as many as it is known to last at least. */
  extension(ttl: number): LockRequest {
    const { request, overlong } = this;
    if (overlong !== undefined) {
      return { ...request, ttl: this.#longest(ttl, this.clock.monotonic()), overlong };
    }
    return request.ttl === ttl ? request : { ...request, ttl };
  }

  /** How long it lasts at `now` where `ttl` ms were asked for: longer, if it did. */
  #longest(ttl: number, now: number): number {
    const { sent, remaining } = this.term;
    return Math.max(ttl, Math.ceil(sent.monotonic + remaining - now));
  }

  /** The server answered how much is left when `asked` ms were asked for. Much more is believed when it says so twice. */
  confirm(term: Term, asked: number): void {
    const most = this.#longest(asked, term.sent.monotonic) + SLACK;
    const isOverlong = this.overlong === undefined && term.remaining > most;
    this.overlong = isOverlong ? term.remaining : undefined;
    if (!isOverlong) this.term = term;
  }

  /** The same by a renewal: no other client can have written over the lock. */
  renewed(term: Term, asked: number): void {
    if (!this.again) this.suspected = undefined;
    this.#failure = undefined;
    this.renewAt = Infinity;
    this.confirm(term, asked);
  }

  /** A renewal failed: the deadline that is known stands. */
  notRenewed(error: unknown): void {
    if (error instanceof LockError) this.#failure = error;
  }

  /** Its ttl, if it is renewed: else no renewal can come too late. */
  get renewedTtl(): number {
    return this.settings.renew ? this.settings.ttl : Infinity;
  }

  /** The last moment of the lease, in monotonic ms. */
  get deadline(): number {
    return deadlineOf(this.term);
  }

  /** The same on the wall clock, as that was when the server was asked. */
  get wallDeadline(): number {
    return this.deadline + (this.term.sent.wall - this.term.sent.monotonic);
  }

  /** For how long the store may still have it, in ms: longer than was asked for, where it was extended or handed on. */
  get lasts(): number {
    const { request, settings, deadline } = this;
    return Math.max(request.ttl, settings.ttl, deadline - this.clock.monotonic());
  }

  /** What the clocks say of the lease. */
  get validity(): Validity {
    return validityOf(this.term, this.clock);
  }

  /** True while nobody else can hold the lock. Looks at the clocks, not at a timer. */
  get held(): boolean {
    return this.phase === 'held' && this.validity === 'valid';
  }

  /** The machine slept, or somebody set its clock: only the server knows. */
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
   * `gone` means too soon: what the server forgot in time has expired. What a push said counts where the server's answer came
   * too soon as well. False if it was over before.
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

  /** Tells its holders that it is about to be lost; until then it is held. */
  announceLoss(reason: LossReason): void {
    this.#controller?.abort(new LeaseLostError(this.request.key, reason));
  }

  /** It was given back; `lost` says why that came too late, if it did. */
  end(lost?: LossReason): void {
    this.phase = 'released';
    if (lost) this.lossReason ??= lost === 'gone' ? (this.suspected ?? lost) : lost;
  }

  /** Why it is not held; of a lease on it that was given back, `returned`, that. */
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
