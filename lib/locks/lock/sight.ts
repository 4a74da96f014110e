import { modeAt } from '../holder.js';
import type { Sight } from '../lock-store.js';
import { firstToken, lastToken } from '../reply.js';

/** What inspect.lua returns. */
type SightReply = [
  type: string,
  current: string,
  remaining: number,
  fence: string,
  now: string,
  waiting: number,
  holders: string[],
  places: string[],
  awaiting: number,
];

export function sightOf(reply: unknown, most: number): Sight {
  const [type, current, remaining, fence, at, waiting, holders, places, awaiting] =
    reply as SightReply;
  const mode = modeAt(current);
  const now = Number(at) / 1_000;
  return {
    type,
    holder: mode ? '' : current,
    holders: oncePerPermit(
      [...pairs(holders)].map(([member, ends]) => {
        const [holder, count] = member.split('#') as [string, string | undefined];
        return { holder, count: Number(count ?? 1), remaining: ends - now };
      }),
      most,
    ),
    mode,
    remaining,
    fencingToken: lastToken(fence),
    firstToken: firstToken(fence),
    waiting,
    awaiting,
    places: [...pairs(places)].map(([place, arrival]) => ({ place, age: now - arrival / 1_000 })),
    now,
  };
}

interface SharedLease {
  readonly holder: string;
  readonly count: number;
  readonly remaining: number;
}

/** The first of these leases, so many at most, each as often as it has permits. */
export function oncePerPermit(leases: readonly SharedLease[], most: number): Sight['holders'] {
  return leases
    .flatMap(({ holder, count, remaining }) =>
      Array.from({ length: Math.min(count, most) }, () => ({ holder, remaining })),
    )
    .slice(0, most);
}

/** Members of a sorted set, each with its score. */
function* pairs(flat: readonly string[]): Generator<[member: string, score: number]> {
  for (let at = 0; at + 1 < flat.length; at += 2) yield [flat[at]!, Number(flat[at + 1])];
}
