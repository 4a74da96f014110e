import { readFileSync } from 'node:fs';

/** The time in which one replica led under one token, as far as it was noted; times on the monotonic clock. */
export interface Reign {
  readonly token: number;
  readonly pid: number;
  readonly first: number;
  readonly last: number;
}

/** What the replicas noted, as reigns in the order of their tokens. */
export function reignsIn(history: string): Reign[] {
  const reigns = new Map<string, Reign>();
  for (const line of readFileSync(history, 'utf8').split('\n').slice(0, -1)) {
    const [token, pid, at] = line.split(' ').map(Number) as [number, number, number];
    const known = reigns.get(`${token} ${pid}`);
    const first = Math.min(known?.first ?? Infinity, at);
    const last = Math.max(known?.last ?? -Infinity, at);
    reigns.set(`${token} ${pid}`, { token, pid, first, last });
  }
  return [...reigns.values()].sort((a, b) => a.token - b.token);
}

/** What is wrong with a history: a token of two replicas, two leaders at a time, a later one with a smaller token. */
export function wrongReigns(reigns: readonly Reign[]): string[] {
  return reigns.slice(1).flatMap((reign, at) => {
    const before = reigns[at]!;
    if (before.token === reign.token) return [`${before.pid} and ${reign.pid} led under one token`];
    if (before.last < reign.first) return [];
    return [
      `${before.pid} led until ${before.last}, ${reign.pid} since ${reign.first}, under a greater token`,
    ];
  });
}
