/** How the nodes of a quorum answered one question. */
export interface Votes {
  readonly granted: number;
  /** Nodes that answered, and did not grant. */
  readonly denied: number;
  /** Nodes that failed, were not connected or did not answer in time. */
  readonly failed: number;
}

/** The least number of nodes of which any two such groups share one. */
export function majorityOf(nodes: number): number {
  return Math.floor(nodes / 2) + 1;
}

/**
 * What came of an acquisition as soon as nothing that is missing can change it; undefined before.
 * `denied`: a majority answered, but does not grant. `failed`: no majority answers.
 */
export function acquisition(
  { granted, denied }: Votes,
  pending: number,
  nodes: number,
): 'granted' | 'denied' | 'failed' | undefined {
  const majority = majorityOf(nodes);
  if (granted >= majority) return 'granted';
  if (granted + pending >= majority) return undefined;
  if (granted + denied >= majority) return 'denied';
  return granted + denied + pending >= majority ? undefined : 'failed';
}

/** Whether a lease still stands on a majority; a node that failed may still have it, so it is `gone` only where so many denied it that no majority can be left. */
export function possession(
  { granted, denied }: Votes,
  pending: number,
  nodes: number,
): 'held' | 'gone' | 'unknown' | undefined {
  const majority = majorityOf(nodes);
  if (granted >= majority) return 'held';
  if (denied > nodes - majority) return 'gone';
  return pending === 0 ? 'unknown' : undefined;
}

/** Whether answers that are missing cannot change what a majority says alike, or that none does. */
export function isSettled<Answer>(
  cast: readonly Answer[],
  pending: number,
  nodes: number,
  alike: (one: Answer, other: Answer) => boolean,
): boolean {
  const most = Math.max(0, ...cast.map((one) => cast.filter((other) => alike(one, other)).length));
  const majority = majorityOf(nodes);
  return most >= majority || most + pending < majority;
}

/** What a majority has at least: the largest value that so many of them reach. */
export function reachedByMajority(values: readonly number[], nodes: number): number | undefined {
  return [...values].sort((a, b) => b - a)[majorityOf(nodes) - 1];
}

/** How long a node may take in ms: half of what lies between two renewals, so that one may fail, and never long. */
export function nodeTimeout(ttl: number, commandTimeout: number): number {
  return Math.min(commandTimeout, 500, ttl / 6);
}
