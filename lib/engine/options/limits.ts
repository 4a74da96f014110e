import { LockOptionsError } from '../errors/index.js';

/** Upper bounds for one process and one key. A call above a bound rejects with `LockLimitError`. */
export interface LockLimits {
  /**
   * Entries in the queue of one key, over all processes; callers that await a condition have a cap of the same number
   * beside it.
   *
   * With `fairness: 'strict'` and a limit of 1,000 or more, up to 64 entries of each process that were just served count
   * for 20 ms longer, until its turn is over. Those of a process that died count for 3 s longer.
   * @default 10000
   */
  readonly waitersPerKey?: number | undefined;
  /** Callers of one process that wait for any key. @default 50000 */
  readonly waitersPerProcess?: number | undefined;
  /**
   * Leases that one process holds. At this limit every call is refused, and one that waits when its turn comes. Callers
   * that wait, and holders that await a condition, do not count.
   *
   * A holder that awaits a condition gets its lock back all the same.
   * @default 100000
   */
  readonly leases?: number | undefined;
  /**
   * Bytes of one key in UTF-8, without prefix. A value of more than 10,000 characters is refused under any limit.
   * @default 512
   */
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
