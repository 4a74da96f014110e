import { LockOptionsError } from '../errors/index.js';
import { type CallSettings, checkStore, type ModuleSettings } from '../options/index.js';
import type { LockStore, LockStrategy } from './lock-store.js';
import type { LockRequest } from './lock-request.js';
import { refuseUnsound } from './quorum/unsound.js';

/** What has to be so before a step is taken: throws if it is not. */
export type Before = (
  step: keyof LockStore,
  request: Pick<LockRequest, 'key' | 'ttl' | 'share' | 'condition'>,
) => void;

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

/** The steps that make a lease, or lengthen one. */
const LEASING = ['acquire', 'extend', 'transfer'];

/**
 * Where a server may be in its grace period: no lease is longer than that lasts, and whatever may let somebody in waits for
 * its end. What is held is renewed all the same.
 * @param longest The longest lease, in ms.
 * @param check Throws in the grace period.
 */
export function boundedLeases(longest: number, check: (key: string) => void = () => {}): Before {
  return (step, { key, ttl }) => {
    if (LEASING.includes(step) && ttl > longest) {
      throw new LockOptionsError(
        `Lock "${key}" was asked for with a ttl of ${ttl} ms: where "durability" is 'refuse' no lease is longer than the module's "ttl" (${longest} ms).`,
        { key },
      );
    }
    if (step !== 'extend') check(key);
  };
}

/** @throws LockOptionsError for a call that the store of such a module refuses whenever it comes. */
export function refuseInVain(
  key: string,
  { ttl, share, dialect }: CallSettings,
  module: ModuleSettings,
): void {
  if (dialect) checkStore(dialect, module);
  if (module.nodes) refuseUnsound({ share });
  if (module.durability === 'refuse') boundedLeases(module.call.ttl)('acquire', { key, ttl });
}

/** @throws LockOptionsError where no other format has such a step. */
export function refuseDialect(step: 'downgrade' | 'transfer', { dialect }: LockRequest): void {
  if (!dialect) return;
  const { name } = dialect;
  throw new LockOptionsError(
    step === 'downgrade'
      ? `A lock in dialect "${name}" cannot be downgraded: release it and acquire it shared, where the dialect has that.`
      : `A lease in dialect "${name}" cannot be handed over.`,
  );
}
