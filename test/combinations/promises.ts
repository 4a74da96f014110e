import { LeaseLostError, LockStoreError } from '../../lib/engine/errors/index.js';
import { SLACK } from '../../lib/engine/locks/validity.js';
import type { BaseLease } from '../../lib/engine/client/leases/lease.js';
import { type Clock, isReader } from '../../lib/engine/options/index.js';
import { type Deed, type DrawnCall, PERMITS } from './drawn-call.js';
import {
  type Asked,
  check,
  checkThrows,
  excludes,
  type Hold,
  type Outcome,
  said,
  type Seen,
} from './hold.js';

/** What rounding makes, in ms. */
export const ROUNDED = 5;

/**
 * What the pages promise of locks over any network, as a list of holds and a list of callers that wait. It knows nothing of how
 * the library keeps it.
 */
export class Promises {
  calls = 0;
  /** How each call went, by its name. */
  readonly seen = new Map<string, Seen>();
  protected readonly holds = new Set<Hold>();
  protected readonly waiting = new Set<Asked>();
  readonly #tokens = new Map<string, number>();
  /** What happened, as data: a text is made of it where somebody reads it. */
  readonly #story: unknown[][] = [];

  constructor(
    private readonly clock: Clock,
    /** How late an answer may be before its command has failed, in ms. */
    private readonly late: number,
  ) {}

  now(): number {
    return this.clock.monotonic();
  }

  asks(call: DrawnCall, process: number): Asked {
    const asked = { call, process, at: this.now(), nth: (this.calls += 1) };
    this.waiting.add(asked);
    this.tell(asked, 'asks', call);
    return asked;
  }

  tell({ nth, process, call }: Asked, what: string, ...more: unknown[]): void {
    this.#story.push([this.now(), nth, process, call.keys, what, ...more]);
  }

  /** What happened last, for who has to find out why a promise was broken. */
  get story(): string {
    const lines = this.#story.slice(-100).map((line) => JSON.stringify(line));
    return ['[at, call, process, keys, what]', ...lines].join('\n');
  }

  /** It waits no more. How long it did. */
  protected ends(asked: Asked, outcome: Outcome): number {
    const { call, at } = asked;
    const waited = this.now() - at;
    this.waiting.delete(asked);
    this.seen.set(nameOf(asked), { keys: call.keys, outcome, end: undefined });
    this.tell(asked, outcome);
    const { keys, wait } = call;
    // Several keys are asked for one after the other, and given back, each within the time-out of a command.
    const most = Math.max(wait, this.late) + (keys.length > 1 ? 6 : 1) * this.late;
    check(waited <= most + ROUNDED, `a call with wait ${wait} was ${outcome} after ${waited} ms`);
    return waited;
  }

  /** A call came to its lease. */
  granted(asked: Asked, lease: BaseLease): Hold {
    const { call } = asked;
    const waited = this.ends(asked, 'acquired');
    const { abortAfter = Infinity } = call;
    check(waited <= abortAfter + ROUNDED, `a call aborted at ${abortAfter} got its lock later`);
    check(
      Math.abs(lease.waited - waited) <= ROUNDED,
      `${waited} ms are said to be ${lease.waited}`,
    );
    check(lease.keys.join() === [...call.keys].sort().join(), `it has other keys: ${lease.key}`);
    const hold: Hold = {
      ...asked,
      lease,
      shared: isReader(call.share),
      since: 0,
      sureUntil: 0,
      endsBy: 0,
      lastsAtMost: 0,
      extendedTo: 0,
      lingersUntil: 0,
      state: 'held',
      overAt: Infinity,
    };
    this.begins(hold);
    return hold;
  }

  /** It is held from now on, by its first grant or after it awaited a condition. */
  begins(hold: Hold): void {
    const { renew, maxHold, ttl } = hold.call;
    const now = this.now();
    hold.state = 'held';
    hold.since = this.#endOf(hold) - ttl;
    hold.sureUntil = now;
    hold.endsBy = now + (renew ? maxHold : 0) + ttl;
    hold.lastsAtMost = now + maxHold;
    check(hold.lease.held, 'a new lease is not held');
    this.#excludesOthers(hold);
    this.#tokensGrow(hold);
  }

  #excludesOthers(hold: Hold): void {
    for (const other of this.holds) {
      if (other.state === 'awaiting') continue;
      if (!this.isPerhapsLive(other)) this.ended(other);
      else if (this.#isLive(other))
        check(!excludes(hold, other), () => `${said(hold)} beside ${said(other)}`);
    }
    this.holds.add(hold);
    if (!hold.call.keys.includes('permits')) return;
    const taken = [...this.holds]
      .filter((each) => each.call.keys.includes('permits') && this.#isLive(each))
      .reduce((sum, { call }) => sum + call.share!.count, 0);
    check(taken <= PERMITS, `${taken} of ${PERMITS} permits are held`);
  }

  /** What must be so of a hold at any moment. */
  check(hold: Hold): void {
    const now = this.now();
    const { lease, call } = hold;
    const { held } = lease;
    check(held || now >= hold.sureUntil - ROUNDED, () => `lost before its time: ${said(hold)}`);
    if (!held) return;
    check(now <= hold.endsBy + ROUNDED, () => `held after its time: ${said(hold)}`);
    const end = this.#endOf(hold);
    const farthest = Math.max(now + call.ttl, hold.extendedTo);
    const slack = this.late > 0 ? SLACK : 0; // the lease may last longer than its holder was told before
    check(end <= farthest + slack + ROUNDED, () => `believed for ${end - now} ms: ${said(hold)}`);
    hold.sureUntil = Math.max(hold.sureUntil, end); // what it says of its end stands
  }

  /** An extension is asked for. It may run without an answer. */
  extends(hold: Hold, ttl: number): void {
    const until = Math.min(this.now() + this.late + ttl, hold.lastsAtMost);
    hold.extendedTo = Math.max(hold.extendedTo, until);
    hold.endsBy = Math.max(hold.endsBy, until);
  }

  /** Its caller hands it over: what it said of its end stands for the lock. */
  handsOver(hold: Hold): void {
    hold.state = 'on its way';
    hold.overAt = this.now();
  }

  /** It goes on after it was handed over; its clocks stood still until it was asked for. */
  restored(hold: Hold, from: number): void {
    const { ttl } = hold.call;
    const onTheWay = this.now() - hold.overAt;
    hold.state = 'held';
    hold.since += from - hold.overAt;
    hold.lastsAtMost += onTheWay;
    hold.sureUntil = this.now();
    hold.endsBy = Math.max(hold.endsBy + onTheWay, this.now() + ttl);
    check(hold.lease.held, 'a lease that was restored is not held');
    this.#excludesOthers(hold);
  }

  gaveBack(hold: Hold, state: 'over' | 'awaiting' = 'over'): void {
    this.tell(hold, `is ${state}, ${hold.lease.held ? 'held' : 'not held'} before`);
    hold.state = state;
    hold.overAt = this.now();
    hold.lingersUntil = hold.lease.held ? this.lingers(hold) : this.now(); // a lease that was lost has no minimum hold
    if (state === 'over' && !this.isPerhapsLive(hold)) this.ended(hold);
  }

  /** How its release ended, which began when it was `held` or not, with so much `left` of it. */
  released(hold: Hold, held: boolean, left: number, released: boolean): void {
    this.seen.get(nameOf(hold))!.end = released ? 'released' : 'lost';
    const isSure = held && left > this.late;
    check(
      released ? held : !isSure,
      `release of a lease that is ${held ? '' : 'not '}held said ${released}`,
    );
  }

  /** What is left of it, in ms, as it says itself. */
  leftOf(hold: Hold): number {
    return this.#endOf(hold) - this.now();
  }

  /** A call was refused since others have the lock. */
  refused(asked: Asked, said: number): void {
    const { wait } = asked.call;
    const waited = this.ends(asked, 'timedOut');
    check(waited >= wait - ROUNDED, `wait ${wait} was over after ${waited} ms`);
    const isSo = Math.abs(waited - said) <= this.late + ROUNDED;
    check(isSo, `${waited} ms are said to be ${said}`);
  }

  /** A call was refused since too many wait. */
  crowded(asked: Asked): number {
    return this.ends(asked, 'refused');
  }

  aborted(asked: Asked): void {
    const { abortAfter = Infinity, keys } = asked.call;
    const waited = this.ends(asked, 'aborted');
    const most = abortAfter + (keys.length > 1 ? 2 * this.late : 0); // what it holds is given back first
    check(
      waited >= abortAfter - ROUNDED && waited <= most + ROUNDED,
      `aborted after ${abortAfter}, it rejected after ${waited} ms`,
    );
  }

  /** A call failed, which only a bad network excuses. */
  failed(asked: Asked, error: unknown): void {
    if (this.late === 0 || !(error instanceof LockStoreError)) throw error;
    this.ends(asked, 'failed');
  }

  /** A step under a lease failed, which only a bad network excuses. A change without an answer counts as a loss. */
  disturbed(hold: Hold, deed: Deed['kind'], error: unknown): void {
    const isLoss = error instanceof LeaseLostError;
    if (this.late === 0 || !(isLoss || error instanceof LockStoreError)) throw error;
    this.tell(hold, `is disturbed: ${error.message}`);
    const { lease } = hold;
    check(!isLoss || !lease.held, 'a lease that is held was said to be lost');
    if (['downgrade', 'hand over', 'await'].includes(deed)) hold.sureUntil = 0;
    hold.state = lease.handedOver ? 'over' : 'held';
  }

  #tokensGrow({ call, lease, shared }: Hold): void {
    for (const key of call.keys) {
      if (!call.fencing) {
        checkThrows(() => lease.fencingTokenOf(key), 'a lease without fencing has a token');
      } else if (key !== 'permits') {
        // two permits of one release may be heard of in either order
        const token = lease.fencingTokenOf(key);
        const last = this.#tokens.get(key) ?? 0;
        const grows = shared ? token >= last : token > last; // readers have the token of their writer
        check(grows, `the token of ${key} did not grow: ${token}`);
        this.#tokens.set(key, token);
      }
    }
  }

  #endOf({ lease }: Hold): number {
    return lease.expiresAt - this.clock.wall() + this.now();
  }

  /** So long its lock stays taken: the release may run late, but not after the lease. */
  protected lingers(hold: Hold): number {
    return Math.min(hold.since + hold.call.minHold, this.#endOf(hold));
  }

  protected ended(hold: Hold): void {
    this.holds.delete(hold);
  }

  /** Whether others may be kept out: the server ends a lease, each of several keys, a little after its holder has lost it. */
  protected isPerhapsLive(hold: Hold): boolean {
    return (
      this.#isLive(hold, ROUNDED) || (hold.state === 'held' && this.now() < hold.endsBy + ROUNDED)
    );
  }

  /** Whether others must be kept out. */
  #isLive(hold: Hold, longer = -ROUNDED): boolean {
    if (hold.state === 'held') return hold.lease.held;
    const until = hold.state === 'on its way' ? hold.sureUntil : hold.lingersUntil;
    return hold.state !== 'awaiting' && this.now() < until + longer;
  }
}

/** The name by which events tell of a call. */
export function nameOf({ nth }: Asked): string {
  return `call ${nth}`;
}
