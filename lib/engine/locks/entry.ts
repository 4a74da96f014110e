import { isReader, NATIVE, READER } from '../options/index.js';
import type { LockRequest } from './lock-request.js';

// The text of an entry in the queue, as docs/protocol.md defines it: constant for its life, with all that `grant_next` needs.

/** The entry of a request that waits for the lock. */
export function entryOf({ holder, ttl, tokenBlock, share }: LockRequest): string {
  if (!share) return `${holder}/${ttl}/x${tokenBlock}`;
  return isReader(share)
    ? `${holder}/${ttl}/s${tokenBlock}`
    : `${holder}/${ttl}/p${tokenBlock}/${share.permits}/${share.count}`;
}

const ENTRY = /^([^/]+\/[^/]+)\/(\d+)\/([xspc])(\d+)(?:\/([^/]+))?(?:\/(\d+))?$/;

/** Reads the request from an entry; undefined for any other text. */
export function requestAt(entry: string, key: string): LockRequest | undefined {
  const [, holder, ttl, kind, tokens, detail, count] = ENTRY.exec(entry) ?? [];
  if (holder === undefined) return undefined;
  const request = { key, holder, ttl: Number(ttl), tokenBlock: Number(tokens), format: NATIVE };
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
