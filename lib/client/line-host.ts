import type { Holding } from './holding.js';
import type { BaseLease } from './base-lease.js';
import type { Line } from './line.js';
import type { PlaceHost } from './place-host.js';
import type { Schedule } from './schedule.js';
import type { Waiter } from './waiter.js';

/** What a line needs of the process it stands in. */
export interface LineHost extends PlaceHost {
  newHolderId(fenced: boolean): string;
  /** When the call of a waiter is over, whatever happens. */
  readonly bounds: Schedule<Waiter>;
  /** When a line has to look whether its holder overstays. */
  readonly slices: Schedule<Line>;
  /** The lock is ours from this moment on; the lease is for who waited. */
  enter(holding: Holding): BaseLease;
  /** A waiter waits no more. */
  gone(waiter: Waiter): void;
  /** Nobody waits in the line, and nobody of it holds the lock. */
  retire(line: Line): void;
}
