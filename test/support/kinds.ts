import type { Share } from '../../lib/engine/options/index.js';

/** One kind of lock that one may hold at a time: what its requests say of others beside it. */
export interface Kind {
  /** Where its scripts are, below lib/engine/locks. */
  readonly folder: string;
  readonly share?: Share;
}

/** Every kind of which there is one holder at most: they keep the same promises. */
export const kinds: Readonly<Record<string, Kind>> = {
  lock: { folder: 'lock' },
  'semaphore of one permit': { folder: 'shares', share: { permits: 1, count: 1 } },
};
