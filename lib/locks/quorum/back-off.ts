/** The shortest and the longest average pause, in ms, and the part of the time waited that it grows with. */
const PAUSE = { shortest: 8, longest: 60, growth: 0.02 };

/** How long to wait before the next attempt, in ms: at random, so that contenders who split the votes do not meet again. */
export function backOff(waited: number): number {
  const mean = Math.min(PAUSE.longest, PAUSE.shortest + waited * PAUSE.growth);
  return mean * 2 * Math.random();
}
