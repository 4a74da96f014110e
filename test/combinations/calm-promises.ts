import type { BaseLease } from '../../lib/engine/client/leases/lease.js';
import { type Clock, isReader } from '../../lib/engine/options/index.js';
import { ASK_LONGEST } from '../../lib/engine/protocol/constants.js';
import type { DrawnCall } from './drawn-call.js';
import { type Asked, check, type Hold, type Outcome, overlap } from './hold.js';
import { Promises, ROUNDED } from './promises.js';

/**
 * How long a free lock may stay free while somebody waits, in ms. Who is given it is told at once. Where nobody gives it back,
 * since it ends by itself, or in a dialect, somebody has to ask.
 */
const MOST_IDLE = { given: 8, ended: ASK_LONGEST };

/** What is promised besides where nothing is lost or late: turns, no idle lock, no needless refusal, leases until their end. */
export class CalmPromises extends Promises {
  /** Of those that wait no more: on which keys, since when, until when. */
  readonly #waited: { asked: Asked; until: number }[] = [];
  readonly #past: { hold: Hold; until: number }[] = [];

  constructor(
    clock: Clock,
    private readonly fairness: 'local' | 'strict',
  ) {
    super(clock, 0);
  }

  override granted(asked: Asked, lease: BaseLease): Hold {
    const hold = super.granted(asked, lease);
    this.#inTurn(asked);
    this.#notIdle(asked, hold);
    return hold;
  }

  override begins(hold: Hold): void {
    super.begins(hold);
    const { renew, maxHold, ttl } = hold.call;
    hold.since = this.now();
    hold.sureUntil = this.now() + (renew ? maxHold : ttl);
  }

  override extends(hold: Hold, ttl: number): void {
    super.extends(hold, ttl);
    hold.sureUntil = Math.max(hold.sureUntil, hold.extendedTo);
  }

  override restored(hold: Hold, from: number): void {
    const { sureUntil, overAt, call } = hold;
    super.restored(hold, from);
    if (call.renew) hold.sureUntil = sureUntil + (this.now() - overAt);
  }

  override refused(asked: Asked, said: number): void {
    super.refused(asked, said);
    const { keys, dialect } = asked.call;
    const isPolled = dialect !== undefined; // it may have come free since the last ask
    check(isPolled || this.#hasReason(asked), `${keys.join()} is free, and a call was refused`);
  }

  /** One that wants a single lock is refused at once. */
  override crowded(asked: Asked): number {
    const waited = super.crowded(asked);
    const { keys } = asked.call;
    const isAtOnce = keys.length > 1 || waited <= ROUNDED;
    check(isAtOnce, `a call was refused for those who wait after ${waited} ms`);
    check(this.#hasReason(asked), `${keys.join()} is free, and a call found a crowd`);
    return waited;
  }

  protected override ends(asked: Asked, outcome: Outcome): number {
    this.#waited.push({ asked, until: this.now() });
    return super.ends(asked, outcome);
  }

  protected override lingers({ since, call }: Hold): number {
    return since + call.minHold;
  }

  protected override ended(hold: Hold): void {
    super.ended(hold);
    const { state, lingersUntil, endsBy, overAt } = hold;
    const now = this.now();
    const until =
      state === 'held' ? endsBy : state === 'over' ? Math.max(overAt, lingersUntil) : now;
    this.#past.push({ hold, until });
  }

  /** Somebody has the lock, waits for it or did until now, or may wait for it again once it was signalled. */
  #hasReason({ call, nth }: Asked): boolean {
    const now = this.now();
    const isOther = (other: DrawnCall): boolean => overlap(other, call);
    const shared = isReader(call.share);
    const isInTheWay = (hold: Hold): boolean =>
      hold.state === 'awaiting' || (this.isPerhapsLive(hold) && !(hold.shared && shared));
    return (
      [...this.holds].some((hold) => isOther(hold.call) && isInTheWay(hold)) ||
      [...this.waiting].some((other) => isOther(other.call)) ||
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
    for (const other of this.waiting) {
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
      [...this.holds].some((hold) => hold !== own && overlap(hold.call, call)) ||
      [...this.waiting].some((other) => overlap(other.call, call) && other.call.keys.length > 1);
    if (inTheWay) return;
    const idle = this.now() - since;
    const most = asks ? MOST_IDLE.ended : MOST_IDLE.given;
    check(idle <= most, `${call.keys.join()} was free for ${idle} ms while somebody waited`);
  }
}

/** One lock of this library's own format, wanted alone. */
function isPlain({ keys, share, dialect }: DrawnCall): boolean {
  return keys.length === 1 && !share && dialect === undefined;
}
