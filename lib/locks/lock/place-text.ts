import { isReader, READER } from '../../options/index.js';
import type { Claim } from '../lock-primitive.js';

/** A place in the queue as the scripts know it, constant for its life: what grant-next.lua needs of it. */
export function placeText({ holder, ttl, tokens, share }: Claim): string {
  if (!share) return `${holder}/${ttl}/x${tokens}`;
  return isReader(share)
    ? `${holder}/${ttl}/s${tokens}`
    : `${holder}/${ttl}/p${tokens}/${share.permits}/${share.count}`;
}

const PLACE = /^([^/]+\/[^/]+)\/(\d+)\/([xspc])(\d+)(?:\/([^/]+))?(?:\/(\d+))?$/;

/** The claim that stands at a place; undefined if no place is written so. */
export function claimAt(place: string, key: string): Claim | undefined {
  const [, holder, ttl, kind, tokens, detail, count] = PLACE.exec(place) ?? [];
  if (holder === undefined) return undefined;
  const claim = { key, holder, ttl: Number(ttl), tokens: Number(tokens) };
  switch (kind) {
    case 's':
      return { ...claim, share: READER };
    case 'p':
      return { ...claim, share: { permits: Number(detail), count: Number(count) } };
    case 'c':
      return { ...claim, condition: { name: detail!, over: false } };
    default:
      return claim;
  }
}
