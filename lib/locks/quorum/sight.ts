import type { Sight } from '../lock-store.js';
import { majorityOf, reachedByMajority } from './votes.js';

/** Whether two nodes see the same holder, or the same foreign thing. */
export function alike(one: Sight, other: Sight): boolean {
  return one.type === other.type && one.holder === other.holder;
}

/** What a majority of looks has in common: held by whom it votes for, of another type where it says so, else free. */
export function sightOf(looks: readonly Sight[], nodes: number): Sight {
  const majority = majorityOf(nodes);
  const tokens = looks.map(({ fencingToken = 0 }) => fencingToken);
  const fencingToken = Math.max(...tokens) || undefined;
  const seen = { ...looks[0]!, type: 'none', holder: '', remaining: -2, fencingToken };
  for (const look of looks) {
    const { type, holder } = look;
    if (type === 'none') continue;
    const same = looks.filter((other) => alike(look, other));
    if (same.length < majority) continue;
    const ends = same.map(({ remaining }) => remaining);
    const minted = same.map((vote) => vote.firstToken ?? 0); // a minority may have minted more for others
    const firstToken = reachedByMajority(minted, nodes) || undefined;
    return { ...seen, type, holder, remaining: reachedByMajority(ends, nodes)!, firstToken };
  }
  return seen;
}
