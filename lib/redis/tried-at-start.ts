import { LockStoreError } from '../errors/index.js';
import type { Clock } from '../options/index.js';
import { START_TIMEOUT } from './first-ready.js';
import { pauseBefore } from './reconnector.js';

/**
 * Does a step of a start, and does it again for `START_TIMEOUT` where a connection is lost meanwhile, as in a failover.
 * @throws What the server refused the step with, at once; the last failure once `closed` or late.
 */
export async function triedAtStart(
  step: () => Promise<unknown>,
  clock: Clock,
  closed: () => boolean,
): Promise<void> {
  const end = clock.monotonic() + START_TIMEOUT;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await step();
      return;
    } catch (error) {
      const isLost = error instanceof LockStoreError && error.outcome !== 'refused';
      if (!isLost || closed() || clock.monotonic() >= end) throw error;
      await new Promise<void>((go) => void clock.after(pauseBefore(attempt), go));
    }
  }
}
