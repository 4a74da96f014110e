import type { BaseLease } from '../../lib/engine/client/leases/lease.js';
import { isReader } from '../../lib/engine/options/index.js';
import { ASK_LONGEST } from '../../lib/engine/protocol/constants.js';
import { type DrawnCall, PERMITS } from './drawn-call.js';

/** A lease that its caller believes to have. */
export interface Hold {
  readonly nth: number;
  readonly call: DrawnCall;
  readonly process: number;
  lease: BaseLease;
  shared: boolean;
  /** Before this moment it is not lost. */
  sureUntil: number;
  /** After this moment it is not held. */
  endsBy: number;
  /** No extension goes further. */
  lastsAtMost: number;
  /** For the sake of `minHold`, its lock stays taken so long when it was given back. */
  lingersUntil: number;
  state: 'held' | 'on its way' | 'awaiting' | 'over';
  /** When its caller gave it back. */
  overAt: number;
}

/** A call that waits. */
export interface Asked {
  readonly call: DrawnCall;
  readonly process: number;
  readonly at: number;
  readonly nth: number;
}

/** What rounding makes, in ms. */
const ROUNDED = 5;

/**
 * How long a free lock may stay free while somebody waits, in ms. Who is given it is told at once. Where nobody gives it back,
 * since it ends by itself, or in a dialect, somebody has to ask.
 */
const MOST_IDLE = { given: 8, ended: ASK_LONGEST };

/**
 * What the pages promise of locks, as a list of holds and a list of callers that wait. It knows nothing of how the library
 * keeps it.
 */
export class Promises {
  calls = 0;
  readonly #holds = new Set<Hold>();
  readonly #waiting = new Set<Asked>();
  readonly #tokens = new Map<string, number>();
  /** Of those that wait no more: on which keys, since when, until when. */
  readonly #waited: { asked: Asked; until: number }[] = [];
  readonly #past: { hold: Hold; until: number }[] = [];
  /** What happened, as data: a text is made of it where somebody reads it. */
  readonly #story: unknown[][] = [];

  constructor(
    readonly now: () => number,
    private readonly fairness: 'local' | 'strict',
  ) {}

  asks(call: DrawnCall, process: number): Asked {
    const asked = { call, process, at: this.now(), nth: (this.calls += 1) };
    this.#waiting.add(asked);
    this.tell(asked, 'asks', call);
    return asked;
  }

  tell({ nth, process, call }: Asked | Hold, what: string, ...more: unknown[]): void {
    this.#story.push([this.now(), nth, process, call.keys, what, ...more]);
  }

  /** What happened last, for who has to find out why a promise was broken. */
  get story(): string {
    const lines = this.#story.slice(-100).map((line) => JSON.stringify(line));
    return ['[at, call, process, keys, what]', ...lines].join('\n');
  }

  /** It waits no more. How long it did. */
  ends(asked: Asked): number {
    this.#waiting.delete(asked);
    this.#waited.push({ asked, until: this.now() });
    return this.now() - asked.at;
  }

  /** A call came to its lease. */
  granted(asked: Asked, lease: BaseLease): Hold {
    const { call, process } = asked;
    const waited = this.ends(asked);
    const { wait, abortAfter = Infinity } = call;
    check(waited <= wait + ROUNDED, `a call with wait ${wait} got its lock after ${waited} ms`);
    check(waited <= abortAfter + ROUNDED, `a call aborted at ${abortAfter} got its lock later`);
    check(
      Math.abs(lease.waited - waited) <= ROUNDED,
      `${waited} ms are said to be ${lease.waited}`,
    );
    check(lease.keys.join() === [...call.keys].sort().join(), `it has other keys: ${lease.key}`);
    this.tell(asked, 'holds');
    const hold: Hold = {
      nth: asked.nth,
      call,
      process,
      lease,
      shared: isReader(call.share),
      sureUntil: 0,
      endsBy: 0,
      lastsAtMost: 0,
      lingersUntil: 0,
      state: 'held',
      overAt: Infinity,
    };
    this.#inTurn(asked);
    this.begins(hold);
    this.#notIdle(asked, hold);
    this.#tokensGrow(hold);
    return hold;
  }

  /** It is held from now on, by its first grant or after it awaited a condition. */
  begins(hold: Hold): void {
    const { renew, maxHold, ttl, keys } = hold.call;
    const now = this.now();
    hold.state = 'held';
    hold.sureUntil = now + (renew ? maxHold : ttl);
    hold.endsBy = now + (renew ? maxHold : 0) + ttl;
    hold.lastsAtMost = now + maxHold;
    hold.lingersUntil = now + hold.call.minHold;
    check(hold.lease.held, 'a new lease is not held');
    for (const other of this.#holds) {
      if (other.state === 'awaiting') continue;
      if (!this.#isPerhapsLive(other)) this.#ended(other);
      else if (this.#isLive(other))
        check(!excludes(hold, other), () => `${said(hold)} beside ${said(other)}`);
    }
    this.#holds.add(hold);
    if (!keys.includes('permits')) return;
    const taken = [...this.#holds]
      .filter((each) => each.call.keys.includes('permits') && this.#isLive(each))
      .reduce((sum, { call }) => sum + call.share!.count, 0);
    check(taken <= PERMITS, `${taken} of ${PERMITS} permits are held`);
  }

  /** What must be so of a hold at any moment. */
  check(hold: Hold): void {
    const now = this.now();
    const { held } = hold.lease;
    check(held || now >= hold.sureUntil - ROUNDED, () => `lost before its time: ${said(hold)}`);
    check(!held || now <= hold.endsBy + ROUNDED, () => `held after its time: ${said(hold)}`);
  }

  extended(hold: Hold, ttl: number): void {
    const until = Math.min(this.now() + ttl, hold.lastsAtMost);
    hold.sureUntil = Math.max(hold.sureUntil, until);
    hold.endsBy = Math.max(hold.endsBy, until);
  }

  /** It goes on after it was handed over; its clocks stood still on the way. */
  restored(hold: Hold, after: number): void {
    const { renew, ttl } = hold.call;
    hold.state = 'held';
    hold.lingersUntil += after;
    hold.sureUntil = renew ? hold.sureUntil + after : this.now();
    hold.endsBy = Math.max(hold.endsBy + after, this.now() + ttl);
    check(hold.lease.held, 'a lease that was restored is not held');
  }

  gaveBack(hold: Hold, state: 'over' | 'awaiting' = 'over'): void {
    this.tell(hold, `is ${state}, ${hold.lease.held ? 'held' : 'not held'} before`);
    hold.state = state;
    hold.overAt = this.now();
    if (state === 'over' && !this.#isPerhapsLive(hold)) this.#ended(hold);
  }

  /** A call was refused since others have the lock. */
  refused(asked: Asked, said: number): void {
    const { call } = asked;
    const waited = this.ends(asked);
    this.tell(asked, 'is refused');
    check(Math.abs(waited - call.wait) <= ROUNDED, `wait ${call.wait} was over after ${waited} ms`);
    check(Math.abs(waited - said) <= ROUNDED, `${waited} ms are said to be ${said}`);
    const isPolled = call.dialect !== undefined; // it may have come free since the last ask
    check(
      isPolled || this.#hasReason(asked),
      `${call.keys.join()} is free, and a call was refused`,
    );
  }

  /** A call was refused since too many wait: one for a single lock at once. */
  crowded(asked: Asked): void {
    const { call } = asked;
    const waited = this.ends(asked);
    this.tell(asked, 'finds a crowd');
    const isAtOnce = call.keys.length > 1 || waited <= ROUNDED;
    check(isAtOnce, `a call was refused for those who wait after ${waited} ms`);
    check(this.#hasReason(asked), `${call.keys.join()} is free, and a call found a crowd`);
  }

  aborted(asked: Asked): void {
    const { abortAfter = Infinity } = asked.call;
    const waited = this.ends(asked);
    this.tell(asked, 'is aborted');
    check(
      Math.abs(waited - abortAfter) <= ROUNDED,
      `aborted after ${abortAfter}, it rejected after ${waited} ms`,
    );
  }

  /** Somebody has the lock, waits for it or did until now, or may wait for it again once it was signalled. */
  #hasReason({ call, nth }: Asked): boolean {
    const now = this.now();
    const isOther = (other: DrawnCall): boolean => overlap(other, call);
    const shared = isReader(call.share);
    const isInTheWay = (hold: Hold): boolean =>
      hold.state === 'awaiting' || (this.#isPerhapsLive(hold) && !(hold.shared && shared));
    return (
      [...this.#holds].some((hold) => isOther(hold.call) && isInTheWay(hold)) ||
      [...this.#waiting].some((other) => isOther(other.call)) ||
      this.#waited.some(
        ({ asked, until }) => asked.nth !== nth && isOther(asked.call) && until >= now - ROUNDED,
      )
    );
  }

  /**
   * Who asked for the same lock before, alone, and still waits, is served first: with `local` fairness among callers of a
   * process, those with a token and those without apart.
   */
  #inTurn({ call, process, at, nth }: Asked): void {
    if (!isPlain(call)) return;
    for (const other of this.#waiting) {
      if (!isPlain(other.call) || !overlap(other.call, call) || other.at >= at) continue;
      const isApart = other.process !== process || other.call.fencing !== call.fencing;
      check(
        this.fairness === 'local' && isApart,
        `call ${nth} got ${call.keys.join()} before call ${other.nth}, which waited longer`,
      );
    }
  }

  /** It was granted as soon as nobody was in its way. */
  #notIdle({ call, at, nth }: Asked, own: Hold): void {
    let since = at;
    let asks = call.dialect !== undefined;
    for (const { hold, until } of this.#past) {
      if (!overlap(hold.call, call) || (hold.shared && own.shared)) continue;
      since = Math.max(since, until);
      asks ||= until >= at && until !== hold.overAt;
    }
    for (const { asked, until } of this.#waited) {
      const before = asked.nth < nth || asked.call.keys.length > 1;
      if (asked.nth !== nth && before && overlap(asked.call, call)) since = Math.max(since, until);
    }
    const inTheWay =
      [...this.#holds].some((hold) => hold !== own && overlap(hold.call, call)) ||
      [...this.#waiting].some((other) => overlap(other.call, call) && other.call.keys.length > 1);
    if (inTheWay) return;
    const idle = this.now() - since;
    const most = asks ? MOST_IDLE.ended : MOST_IDLE.given;
    check(idle <= most, `${call.keys.join()} was free for ${idle} ms while somebody waited`);
  }

  #tokensGrow({ call, lease, shared }: Hold): void {
    for (const key of call.keys) {
      if (!call.fencing) {
        checkThrows(() => lease.fencingTokenOf(key), 'a lease without fencing has a token');
      } else if (!shared && key !== 'permits') {
        // two permits of one release may be heard of in either order
        const token = lease.fencingTokenOf(key);
        check(token > (this.#tokens.get(key) ?? 0), `the token of ${key} did not grow: ${token}`);
        this.#tokens.set(key, token);
      }
    }
  }

  #ended(hold: Hold): void {
    this.#holds.delete(hold);
    const { state, lingersUntil, endsBy, overAt } = hold;
    const now = this.now();
    const until =
      state === 'held' ? endsBy : state === 'over' ? Math.max(overAt, lingersUntil) : now;
    this.#past.push({ hold, until });
  }

  /** Whether others may be kept out: the server ends a lease, each of several keys, a little after its holder has lost it. */
  #isPerhapsLive(hold: Hold): boolean {
    return (
      this.#isLive(hold, ROUNDED) || (hold.state === 'held' && this.now() < hold.endsBy + ROUNDED)
    );
  }

  /** Whether others must be kept out. */
  #isLive(hold: Hold, longer = -ROUNDED): boolean {
    if (hold.state === 'held') return hold.lease.held;
    if (hold.state === 'on its way') return true;
    return hold.state === 'over' && this.now() < hold.lingersUntil + longer;
  }
}

/** A promise is broken. */
export class Broken extends Error {}

export function check(kept: boolean, otherwise: string | (() => string)): asserts kept {
  if (!kept) throw new Broken(typeof otherwise === 'string' ? otherwise : otherwise());
}

function checkThrows(step: () => unknown, otherwise: string): void {
  try {
    step();
  } catch {
    return;
  }
  throw new Broken(otherwise);
}

/** One lock of this library's own format, wanted alone. */
function isPlain({ keys, share, dialect }: DrawnCall): boolean {
  return keys.length === 1 && !share && dialect === undefined;
}

function overlap(one: DrawnCall, other: DrawnCall): boolean {
  return one.keys.some((key) => other.keys.includes(key));
}

function excludes(one: Hold, other: Hold): boolean {
  if (one === other || !overlap(one.call, other.call)) return false;
  return !(one.shared && other.shared) && !one.call.keys.includes('permits');
}

function said({ call: { deeds: _, ...call }, process, state }: Hold): string {
  return `${state} by process ${process}: ${JSON.stringify(call)}`;
}
