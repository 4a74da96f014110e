import { isReader, READER } from '../../options/index.js';
import type { LockRequest } from '../lock-request.js';

/** A place in the queue as the scripts know it, constant for its life: what grant-next.lua needs of it. */
export function placeText({ holder, ttl, tokens, share }: LockRequest): string {
  if (!share) return `${holder}/${ttl}/x${tokens}`;
  return isReader(share)
    ? `${holder}/${ttl}/s${tokens}`
    : `${holder}/${ttl}/p${tokens}/${share.permits}/${share.count}`;
}

const PLACE = /^([^/]+\/[^/]+)\/(\d+)\/([xspc])(\d+)(?:\/([^/]+))?(?:\/(\d+))?$/;

/** The request that stands at a place; undefined if no place is written so. */
export function requestAt(place: string, key: string): LockRequest | undefined {
  const [, holder, ttl, kind, tokens, detail, count] = PLACE.exec(place) ?? [];
  if (holder === undefined) return undefined;
  const request = { key, holder, ttl: Number(ttl), tokens: Number(tokens) };
  switch (kind) {
    case 's':
      return { ...request, share: READER };
    case 'p':
      return { ...request, share: { permits: Number(detail), count: Number(count) } };
    case 'c':
      return { ...request, condition: { name: detail!, over: false } };
    default:
      return request;
  }
}
