import type { LockStore, LockStrategy } from './lock-store.js';
import type { LockRequest } from './lock-request.js';

/** What has to be so before a step is taken: throws if it is not. */
export type Before = (step: keyof LockStore, request: Pick<LockRequest, 'key' | 'ttl'>) => void;

/** The same strategy, with `before` asked before each step. */
export function checked(strategy: LockStrategy, before: Before | undefined): LockStrategy {
  if (!before) return strategy;
  return {
    batches: (requests) => strategy.batches(requests),
    async acquire(request) {
      before('acquire', request);
      return strategy.acquire(request);
    },
    async release(request, keep, served) {
      before('release', request);
      return strategy.release(request, keep, served);
    },
    async leave(request, served) {
      before('leave', request);
      return strategy.leave(request, served);
    },
    async extend(requests) {
      for (const request of requests) before('extend', request);
      return strategy.extend(requests);
    },
  };
}
