import type { Sight } from '../lock-primitive.js';
import type { Look } from './quorum-node.js';
import { majorityOf, reachedByMajority } from './votes.js';

/** What a majority of looks has in common: held by whom it votes for, of another type where it says so, else free. */
export function sightOf(looks: readonly Look[], nodes: number): Sight {
  const majority = majorityOf(nodes);
  const tokens = looks.map(({ token }) => token);
  const seen = {
    type: 'none',
    holder: '',
    remaining: -2,
    holders: [],
    fencingToken: Math.max(...tokens) || undefined,
    waiting: 0,
    awaiting: 0,
    places: [],
    now: looks[0]!.now / 1_000,
  };
  for (const { type, holder } of looks) {
    if (type === 'none') continue;
    const same = looks.filter((look) => look.type === type && look.holder === holder);
    if (same.length < majority) continue;
    const ends = same.map(({ remaining }) => remaining);
    return { ...seen, type, holder, remaining: reachedByMajority(ends, nodes)! };
  }
  return seen;
}
