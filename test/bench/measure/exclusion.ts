import type { Turn } from './turn.js';

/**
 * How often a caller was told that it holds a lock before the holder before it had called release,
 * seen from outside. Turns in any order, on any number of keys.
 */
export function violations(turns: readonly Turn[]): number {
  let count = 0;
  const freeFrom = new Map<string, number>();
  for (const { key, acquired, releasing } of turns.toSorted((a, b) => a.acquired - b.acquired)) {
    const free = freeFrom.get(key) ?? -Infinity;
    if (acquired < free) count += 1;
    freeFrom.set(key, Math.max(free, releasing));
  }
  return count;
}
