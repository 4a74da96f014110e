import type { Turn } from './turn.js';

/** The lock's way from one turn to the next. */
export interface HandOff {
  readonly before: Turn;
  readonly after: Turn;
  /** From the moment when it was both free and wanted until the next one held it, in ms. */
  readonly idle: number;
  /** Whether somebody was already waiting when it was released. */
  readonly awaited: boolean;
}

/** Every step from turn to turn on one key, the last first. */
export function handOffs(turns: readonly Turn[]): HandOff[] {
  const order = turns.toSorted((a, b) => a.acquired - b.acquired);
  const steps: HandOff[] = [];
  let firstAsked = Infinity;
  for (let at = order.length - 1; at > 0; at -= 1) {
    const [before, after] = [order[at - 1]!, order[at]!];
    firstAsked = Math.min(firstAsked, after.asked);
    const { releasing } = before;
    const idle = after.acquired - Math.max(releasing, firstAsked);
    steps.push({ before, after, idle, awaited: firstAsked < releasing });
  }
  return steps;
}

/** The share of the time in which a lock was wanted that nobody held it. */
export function idleShare(steps: readonly HandOff[]): number {
  const idle = steps.reduce((sum, step) => sum + step.idle, 0);
  const held = steps.reduce((sum, { after }) => sum + after.releasing - after.acquired, 0);
  return idle / (idle + held);
}
