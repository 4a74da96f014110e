import type { Turn } from './turn.js';

/** For each turn on a key after which somebody was waiting: how long until the next one held the lock, in ms. */
export function handOffs(turns: readonly Turn[]): number[] {
  const order = turns.toSorted((a, b) => a.acquired - b.acquired);
  const gaps: number[] = [];
  let firstAsked = Infinity;
  for (let at = order.length - 1; at > 0; at -= 1) {
    firstAsked = Math.min(firstAsked, order[at]!.asked);
    const { releasing } = order[at - 1]!;
    if (firstAsked < releasing) gaps.push(order[at]!.acquired - releasing);
  }
  return gaps;
}

/** How many turns on a key went to another caller than the turn before. */
export function ownerChanges(turns: readonly Turn[]): number {
  const order = turns.toSorted((a, b) => a.acquired - b.acquired);
  return order.filter(({ caller }, at) => at > 0 && caller !== order[at - 1]!.caller).length;
}
