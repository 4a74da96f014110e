import { LockOptionsError } from '../errors/index.js';
import { type CallSettings, checkStore, type ModuleSettings } from '../options/index.js';
import type { LockStore } from './lock-store.js';
import type { LockRequest } from './lock-request.js';
import { refuseUnsound } from './quorum/quorum-limits.js';

/** What has to be so before a step is taken: throws if it is not. */
export type Precondition = (
  step: keyof LockStore,
  request: Pick<LockRequest, 'key' | 'ttl' | 'share' | 'condition' | 'maxWaiting'>,
) => void;

/** The steps on locks; the others only look, or are about no lock. */
const STEPS = [
  'acquire',
  'release',
  'leave',
  'extend',
  'force',
  'downgrade',
  'transfer',
  'stamp',
  'signal',
] as const;

/** Has `before` asked before each step on the locks of this store. */
export function checkSteps(store: LockStore, before: Precondition): void {
  for (const name of STEPS) {
    const step = store[name].bind(store) as (...given: unknown[]) => Promise<unknown>;
    const checked = async (...given: unknown[]): Promise<unknown> => {
      const asked = [name === 'transfer' ? given[1] : given[0]].flat() as (string | LockRequest)[];
      for (const each of asked)
        before(name, typeof each === 'string' ? { key: each, ttl: 0 } : each);
      return step(...given);
    };
    Object.assign(store, { [name]: checked });
  }
}

/** The steps that make a lease, or lengthen one. */
const LEASING = ['acquire', 'extend', 'transfer'];

/**
 * Where a server may be in its grace period: no lease is longer than that lasts, and whatever may let somebody in waits for
 * its end. What is held is renewed all the same.
 * @param longest The longest lease, in ms.
 * @param check Throws in the grace period.
 */
export function boundedLeases(
  longest: number,
  check: (key: string) => void = () => {},
): Precondition {
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
  { ttl, share, maxWaiting, dialect }: CallSettings,
  module: ModuleSettings,
): void {
  if (dialect) checkStore(dialect, module);
  if (module.nodes) refuseUnsound({ share, maxWaiting });
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
