/** What may stand for a number by mistake. Numbers from 1,000 on are mostly times, of which one more makes no difference. */
export function othersFor(value) {
  if (value <= 1) return [1 - value];
  return value < 1_000 ? [value + 1, value * 10] : [value * 10];
}
