import { LeaseLostError, LockShutdownError, LockStoreError } from '../errors/index.js';
import { KEPT } from '../protocol/constants.js';
import { newHolderId } from '../locks/holder.js';
import type { Transferred } from '../locks/lock-store.js';
import { onAbort, TTL_BOUNDS } from '../options/index.js';
import { validityOf } from '../locks/validity.js';
import type { BaseLease } from './leases/lease.js';
import { Claim, isRetryable } from './leases/claim.js';
import type { HandOver } from './leases/hand-over.js';
import { HeldLease } from './leases/held-lease.js';
import { MultiLease } from './leases/multi-lease.js';
import type { QueueContext } from './queue/local-queue.js';
import { SingleLease } from './leases/single-lease.js';
import { endsWithin, pause, pauseAfter } from './leases/timers.js';

/** What one text hands over, in the order of the keys. */
type Parts = readonly [HandOver, ...HandOver[]];

/** How long a lease on its way may last, in ms: the text does not say how far it was extended. */
const LONGEST = TTL_BOUNDS.max;

/**
 * Goes on with all that a text hands over. Of several who want it the first lock decides: who has that goes on with the others.
 * Where one is gone, the rest is given back.
 * @throws as {@link restore}.
 */
export async function restoreAll(
  parts: Parts,
  context: QueueContext,
  shutdown: AbortSignal,
): Promise<BaseLease> {
  const [first, ...others] = parts;
  const { registry, settings, clock } = context;
  const until = clock.monotonic() + 2 * settings.commandTimeout;
  const leader = restore(first, others, until, context, shutdown);
  const restoreOne = async (handOver: HandOver): Promise<SingleLease> => {
    const coming =
      handOver === first
        ? leader
        : leader.then(() => restore(handOver, [], until, context, shutdown));
    return new SingleLease(registry, await registry.addWhenGranted(coming), 0);
  };
  const outcomes = await Promise.allSettled(parts.map(restoreOne));
  const leases: SingleLease[] = [];
  let failure: { readonly reason: unknown } | undefined;
  outcomes.forEach((outcome, nth) => {
    if (outcome.status === 'fulfilled') return leases.push(outcome.value);
    failure ??= outcome;
    if (leases.length > 0) abandon(parts[nth]!, context);
  });
  if (others.length === 0 && !failure) return leases[0]!;
  if (!failure) {
    const lease = new MultiLease(leases, 0);
    const held = await Promise.all(leases.map((each) => each.confirmed())); // one may be lost since it came
    if (held.every(Boolean)) return lease;
    failure = { reason: lease.lossError() };
  }
  const released = Promise.all(leases.map((each) => each.release()));
  await endsWithin(until - clock.monotonic(), released, clock);
  throw failure.reason;
}

/**
 * Gives back all that a text hands over, once the store is `opened`. True if the first lock
 * was still on its way: nobody goes on with the others then. What Redis does not confirm is given back as soon as it does.
 * @throws LockStoreError
 */
export async function discardAll(
  parts: Parts,
  context: QueueContext,
  opened: () => Promise<void>,
): Promise<boolean> {
  const [first, ...others] = parts;
  try {
    await opened();
    const isFirst = await giveBack(first, context);
    if (!isFirst && (others.length === 0 || !(await isOver(first, context)))) return false;
    await Promise.all(others.map((each) => giveBack(each, context)));
    return isFirst;
  } catch (error) {
    for (const each of parts) abandon(each, context, opened);
    throw error;
  }
}

/** A release would keep for this process what it passes on to callers of the one that handed it over. */
function giveBack(
  { request, call }: Pick<HandOver, 'request' | 'call'>,
  { store }: QueueContext,
): Promise<boolean> {
  return call.minHold > 0 ? store.release(request, call.minHold) : store.leave(request);
}

/** Whether nobody goes on with the others behind this first lock: it is free, granted anew, or held by `own`, who gives it up. */
async function isOver(
  { request, fencingToken }: HandOver,
  { store }: QueueContext,
  own = '',
): Promise<boolean> {
  const { holder, firstToken } = await store.inspect(request.key, 1);
  return ['', KEPT, own].includes(holder) || firstToken! > fencingToken!; // false without tokens: another may have restored it
}

function abandon(handOver: HandOver, context: QueueContext, opened?: () => Promise<void>): void {
  const claim = new Claim(handOver.request, 0, context.clock);
  const leave = async (): Promise<void> => {
    await opened?.();
    await giveBack(handOver, context);
  };
  context.cleanup.abandon(claim, leave, LONGEST);
}

/**
 * Goes on with a lease that another process handed over, under a holder id of this process; once only. Repeats the request
 * `until` that moment while Redis does not answer. `shutdown` ends that; a lease that comes all the same is given up. Those
 * `behind` it are given back where nobody goes on with them.
 * @throws LeaseLostError if another caller restored the lease or its time is over; LockStoreError if Redis failed, which
 * may be tried again; LockShutdownError.
 */
async function restore(
  handOver: HandOver,
  behind: readonly HandOver[],
  until: number,
  context: QueueContext,
  shutdown: AbortSignal,
): Promise<HeldLease> {
  const { request, call, fencingToken } = handOver;
  const { store, settings, clock, cleanup } = context;
  const { key } = request;
  const own = {
    ...request,
    holder: newHolderId(store.processId, request.tokenBlock > 0, call.label),
  };
  const claim = new Claim(own, settings.commandTimeout, clock);
  const least = call.renew ? own : { ...own, ttl: 1 }; // a transfer never shortens a lease, so one without renewal keeps the time it has left
  let came = false;
  const giveUp = async (): Promise<void> => {
    if (behind.length > 0) came ||= await isOver(handOver, context, own.holder); // asked before: the answer of `giveBack` may be lost, too
    await giveBack({ request: own, call }, context);
    if (came) await Promise.all(behind.map((each) => giveBack(each, context)));
  };
  const fail = (error: unknown): never => {
    const isBehindLost = behind.length > 0 && error instanceof LeaseLostError;
    if (claim.uncertainUntil > -Infinity || came || isBehindLost) {
      cleanup.abandon(claim, giveUp, LONGEST);
    }
    throw error;
  };
  const patience = 2 * settings.commandTimeout;
  const isLate = (): boolean => shutdown.aborted || clock.monotonic() >= until;
  const silence = `Lock "${key}" was not handed on within ${patience} ms.`;
  let lastFailure: unknown = new LockStoreError(silence, { key, outcome: 'unknown' });
  const transfer = async (): Promise<Transferred> => {
    for (let failures = 0; ; failures += 1) {
      const sentAt = claim.sent();
      try {
        const answer = await store.transfer(request, least);
        claim.answered();
        const { sent, remaining } = answer;
        came ||= typeof remaining === 'number';
        const isSure =
          typeof remaining !== 'number' || validityOf({ sent, remaining }, clock) !== 'doubtful';
        if (isSure || isLate()) return answer; // an answer that came while the machine slept is in doubt: the same step, sent again, says how much is left now
      } catch (error) {
        claim.failed(error, sentAt);
        lastFailure = error;
        if (!isRetryable(error)) throw error;
        await pause(pauseAfter(failures), clock, shutdown);
        if (isLate()) throw error;
      }
    }
  };
  const answer = new Promise<Transferred>((resolve, reject) => {
    const callOff = onAbort(shutdown, () => reject(new LockShutdownError(key)));
    const cancel = clock.after(Math.max(0, until - clock.monotonic()), () => reject(lastFailure));
    transfer()
      .then(resolve, reject)
      .finally(() => {
        cancel();
        callOff();
      });
  });
  const { sent, remaining, renewIn } = await answer.catch(fail);
  if (typeof remaining !== 'number') {
    return fail(new LeaseLostError(key, remaining === 'taken' ? 'taken' : 'expired'));
  }
  if (validityOf({ sent, remaining }, clock) === 'expired') {
    fail(new LeaseLostError(key, 'expired'));
  }
  const grant = { kind: 'held', sent, remaining, fencingToken, tokens: 1, renewIn } as const;
  const { slowHold } = settings.call;
  const from = sent.monotonic;
  const ends = from + remaining; // a lease without renewal ends when it would have ended before
  return new HeldLease(claim, { ...call, slowHold }, grant, clock, undefined, from, ends);
}
