import type { Sight } from '../lock-primitive.js';
import { majorityOf, reachedByMajority } from './votes.js';

/** What a majority of looks has in common: held by whom it votes for, of another type where it says so, else free. */
export function sightOf(looks: readonly Sight[], nodes: number): Sight {
  const majority = majorityOf(nodes);
  const tokens = looks.map(({ fencingToken = 0 }) => fencingToken);
  const fencingToken = Math.max(...tokens) || undefined;
  const seen = { ...looks[0]!, type: 'none', holder: '', remaining: -2, fencingToken };
  for (const { type, holder } of looks) {
    if (type === 'none') continue;
    const same = looks.filter((look) => look.type === type && look.holder === holder);
    if (same.length < majority) continue;
    const ends = same.map(({ remaining }) => remaining);
    return { ...seen, type, holder, remaining: reachedByMajority(ends, nodes)! };
  }
  return seen;
}
