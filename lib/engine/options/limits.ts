import { LockOptionsError } from '../errors/index.js';

/** Upper bounds for one process and one key. A call above a bound rejects with `LockLimitError`. */
export interface LockLimits {
  /**
   * Entries in the queue of one key, over all processes. Callers that await a condition have a bound of the same size. With
   * `fairness: 'strict'` and 1,000 entries or more, up to 64 served entries of each process count for 20 ms longer. Those of
   * a process that died count for 3 s longer.
   * @default 10000
   */
  readonly waitersPerKey?: number | undefined;
  /** Callers of this process that wait, over all keys. @default 50000 */
  readonly waitersPerProcess?: number | undefined;
  /**
   * Leases that this process holds. At the bound, a new call rejects at once, and a waiting call when its turn comes.
   * Waiting callers do not count. Nor does a holder that awaits a condition: it gets its lock back all the same.
   * @default 100000
   */
  readonly leases?: number | undefined;
  /** Bytes of one key in UTF-8, without the prefix. @default 512 */
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
    if (value === undefined) continue;
    if (!(name in result)) throw new LockOptionsError(`There is no limit "${name}".`);
    if (!Number.isSafeInteger(value) || (value as number) < 1) {
      throw new LockOptionsError(`Limit "${name}" takes a whole number from 1.`);
    }
    result[name] = value as number;
  }
  return result as unknown as LimitSettings;
}
