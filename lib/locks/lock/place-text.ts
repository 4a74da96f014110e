import { isReader, READER } from '../../options/index.js';
import type { Claim } from '../lock-primitive.js';

/** A place in the queue as the scripts know it, constant for its life: what grant-next.lua needs of it. */
export function placeText({ holder, ttl, tokens, share }: Claim): string {
  if (!share) return `${holder}/${ttl}/x${tokens}`;
  return isReader(share)
    ? `${holder}/${ttl}/s${tokens}`
    : `${holder}/${ttl}/p${tokens}/${share.permits}/${share.count}`;
}

const PLACE = /^([^/]+\/[^/]+)\/(\d+)\/([xsp])(\d+)(?:\/(\d+)\/(\d+))?$/;

/** The claim that stands at a place; undefined if no place is written so. */
export function claimAt(place: string, key: string): Claim | undefined {
  const [, holder, ttl, kind, tokens, permits, count] = PLACE.exec(place) ?? [];
  if (holder === undefined) return undefined;
  const claim = { key, holder, ttl: Number(ttl), tokens: Number(tokens) };
  if (kind === 'x') return claim;
  const share = kind === 's' ? READER : { permits: Number(permits), count: Number(count) };
  return { ...claim, share };
}
