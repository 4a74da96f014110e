import { LockOptionsError } from '../errors/index.js';
import { type CallSettings, checkStore, type ModuleSettings } from '../options/index.js';
import type { LockStore } from './lock-store.js';
import type { LockRequest } from './lock-request.js';
import { refuseUnsound } from './quorum/quorum-limits.js';

/** A check before a step; it throws if the step is not allowed. */
export type Precondition = (
  step: keyof LockStore,
  request: Pick<LockRequest, 'key' | 'ttl' | 'share' | 'condition' | 'maxWaiting'>,
) => void;

/** The steps on locks; other steps only look, or concern no lock. */
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

/** Makes the store call `before` ahead of each step on its locks. */
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

/** The steps that grant or lengthen a lease. */
const LEASING = ['acquire', 'extend', 'transfer'];

/**
 * The precondition for servers that may be in a grace period. No lease is longer than the period, and steps that may grant a
 * lock wait for its end. Held leases are renewed all the same.
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

/** @throws LockOptionsError for a call that the store of this module always refuses. */
export function refuseInVain(
  key: string,
  { ttl, share, maxWaiting, format }: CallSettings,
  module: ModuleSettings,
): void {
  checkStore(format, module);
  if (module.nodes) refuseUnsound({ share, maxWaiting });
  if (module.durability === 'refuse') boundedLeases(module.call.ttl)('acquire', { key, ttl });
}

/** @throws LockOptionsError for a step that only locks with a queue have, on a lock in a dialect. */
export function refuseWithoutQueue(
  step: 'downgrade' | 'transfer' | 'await',
  { key, format: { name, queue } }: LockRequest,
): void {
  if (queue) return;
  throw new LockOptionsError(
    {
      downgrade: `A lock in dialect "${name}" cannot be downgraded: release it and acquire it shared, where the dialect has that.`,
      transfer: `A lease in dialect "${name}" cannot be handed over.`,
      await: `Lock "${key}" is taken in dialect "${name}", which has no conditions.`,
    }[step],
  );
}

/** @throws LockOptionsError for a lock in a dialect that mints no fencing tokens. */
export function refuseWithoutTokens({ key, format: { name, fencing } }: LockRequest): void {
  if (fencing) return;
  throw new LockOptionsError(
    `Lock "${key}" was taken in dialect "${name}", which has no fencing tokens.`,
  );
}
