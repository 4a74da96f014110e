import { LockError } from './lock.error.js';

/** That one lock was wanted inside another, and by which code. */
export interface NestedLocks {
  readonly held: string;
  readonly wanted: string;
  /** The stack of the call. */
  readonly at: string;
}

/** Two locks are taken one inside the other, now in one order and now in the other: two callers who do so at once wait for each other. */
export class LockOrderError extends LockError {
  readonly code = 'LOCK_ORDER';

  /** `before`: how `held` came to be wanted, in one step or several, under what is wanted now. */
  constructor(
    readonly held: string,
    wanted: string,
    before: readonly NestedLocks[],
  ) {
    const other = before.map(
      (nested) => `"${nested.wanted}" was wanted inside "${nested.held}":\n${nested.at}`,
    );
    super(
      `Lock "${wanted}" is wanted inside lock "${held}", but elsewhere the other way round: two callers who do so ` +
        'at once wait for each other. Take both at the outside, as one array of keys, or always in one order. ' +
        `Before this call ${other.join('\nand ')}\nThis call:`,
      { key: wanted },
    );
  }
}
