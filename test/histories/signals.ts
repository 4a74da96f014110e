import { DEAD } from '../support/bounds.js';
import type { ConditionEvent } from '../support/history.js';

/** A signal of the condition, from before it was sent. */
export interface Signal {
  readonly from: number;
  /** When it was acknowledged; undefined: it was not, as far as is known. */
  readonly to?: number;
  /** Whether it found somebody who awaited. */
  readonly heard?: boolean;
}

/** One who awaited the condition, from before it gave its lock back. */
export interface Await {
  readonly from: number;
  /** For how long at least it would await a signal, in ms. */
  readonly wait: number;
  /** When that ended. */
  readonly at?: number;
  /** Whether it was signalled; undefined: it got an error, or was killed. */
  readonly woken?: boolean;
  /** It may have woken without a signal: it may have been taken for dead. */
  readonly unsure?: boolean;
  /** How often a signal that it was never sent may have gone on to another: each time it was taken for dead, but the first. */
  readonly passes?: number;
}

/** How much earlier than its time a timer may be over, in ms. */
const EARLY = 5;

/** As `unsignalled` wants them. */
export function conditionEvents(
  signals: readonly Signal[],
  awaits: readonly Await[],
): ConditionEvent[] {
  return [
    ...signals.map(({ from: at }): ConditionEvent => ({ kind: 'signalled', at })),
    ...awaits.flatMap(({ from: at, passes = 0 }) =>
      Array.from({ length: passes }, (): ConditionEvent => ({ kind: 'signalled', at })),
    ),
    ...signals
      .filter(({ heard }) => heard === false)
      .map(({ from: at }): ConditionEvent => ({ kind: 'unheard', at })),
    ...awaits
      .filter(({ woken, unsure }) => woken && !unsure)
      .map(({ from, at }): ConditionEvent => ({ kind: 'woken', from, at: at! })),
  ];
}

/**
 * Signals that should have woken somebody, and did not. Who signals holds the lock, so whoever gave it back to await before
 * stands in the queue.
 */
export function lostSignals(signals: readonly Signal[], awaits: readonly Await[]): string[] {
  return [...passedOver(signals, awaits), ...wokeNobody(signals, awaits)];
}

/** Signals that found nobody, though somebody awaited them in vain from before until after. */
function passedOver(signals: readonly Signal[], awaits: readonly Await[]): string[] {
  const inVain = awaits.filter(({ woken }) => woken === false);
  return signals.flatMap(({ from, to, heard }) => {
    if (heard !== false) return [];
    const missed = inVain.find((each) => each.from < from && to! < each.from + each.wait - EARLY);
    return missed
      ? [`that of ${from} found nobody, though one awaited it since ${missed.from}`]
      : [];
  });
}

/** Signals that found somebody, of whom none woke: each is given to the first to end of those whom it can have woken. */
function wokeNobody(signals: readonly Signal[], awaits: readonly Await[]): string[] {
  // What is known of nobody may have been signalled until all have forgotten it.
  const endOf = ({ at = Infinity, woken }: Await): number => (woken ? at : at + 2 * DEAD);
  const left = awaits
    .filter(({ woken }) => woken !== false)
    .map((each) => ({ from: each.from, end: endOf(each) }))
    .sort((a, b) => a.end - b.end);
  const heard = signals.filter((signal) => signal.heard).sort((a, b) => a.from - b.from);
  return heard.flatMap(({ from, to }) => {
    const at = left.findIndex((each) => each.from < to! && each.end >= from);
    if (at === -1) return [`that of ${from} found somebody, who did not wake`];
    left.splice(at, 1);
    return [];
  });
}
