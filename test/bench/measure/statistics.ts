/** The value below which `share` of the values lie that were seen; NaN without any. */
export function percentile(values: readonly number[], share: number): number {
  const seen = values.filter((value) => !Number.isNaN(value));
  const sorted = seen.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** Jain's index of fairness: 1 when all had the same, 1/n when one had all. */
export function jain(shares: readonly number[]): number {
  const sum = shares.reduce((total, share) => total + share, 0);
  const squares = shares.reduce((total, share) => total + share ** 2, 0);
  return squares === 0 ? NaN : sum ** 2 / (shares.length * squares);
}
