import { LockOptionsError } from '../errors/index.js';

/** Caps that keep one process and one key healthy. */
export interface LockLimits {
  /**
   * Places in the queue of one key, over all processes. Callers that await a condition of the lock are counted apart, and as
   * many may await; a caller that was signalled queues in any case. In strict order, from 1,000 on, up to 64 of each process that have
   * just had their turns may count too: for 20 ms, or 3 s if the process died.
   * @default 10000
   */
  readonly waitersPerKey?: number | undefined;
  /** Callers of one process that wait for any key. @default 50000 */
  readonly waitersPerProcess?: number | undefined;
  /** Leases one process holds. @default 100000 */
  readonly leases?: number | undefined;
  /** Bytes of one key, in UTF-8, without prefix. @default 512 */
  readonly keyBytes?: number | undefined;
}

/** {@link LockLimits} without gaps. */
export type LimitSettings = Readonly<Required<{ [Name in keyof LockLimits]: number }>>;

export const LIMITS: LimitSettings = {
  waitersPerKey: 10_000,
  waitersPerProcess: 50_000,
  leases: 100_000,
  keyBytes: 512,
};

/** @throws LockOptionsError naming the first limit that is wrong or misspelt. */
export function limitSettings(given: LockLimits): LimitSettings {
  if (typeof given !== 'object') throw new LockOptionsError('Option "limits" takes an object.');
  const result: Record<string, number> = { ...LIMITS };
  for (const [name, value] of Object.entries(given) as [string, unknown][]) {
    if (!(name in result)) throw new LockOptionsError(`There is no limit "${name}".`);
    if (value === undefined) continue;
    if (!Number.isSafeInteger(value) || (value as number) < 1) {
      throw new LockOptionsError(`Limit "${name}" takes a whole number from 1.`);
    }
    result[name] = value as number;
  }
  return result as unknown as LimitSettings;
}
