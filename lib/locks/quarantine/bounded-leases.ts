import { LockOptionsError } from '../../errors/index.js';
import type { Before } from '../before.js';

/** The steps that make a lease, or lengthen one. */
const LEASING = ['acquire', 'extend', 'transfer'];

/**
 * Where a server may be in quarantine: no lease is longer than that lasts, and whatever may let somebody in waits for
 * its end. What is held is renewed all the same.
 * @param longest The longest lease, in ms.
 * @param check Throws in quarantine.
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
