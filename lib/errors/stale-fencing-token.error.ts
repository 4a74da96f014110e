import { LockError } from './lock.error.js';

/**
 * Nothing was written: the resource has seen a later holder's fencing token. Whoever gets this holds the
 * lock no more, whatever its clock says. `key` is the lock's where a lease came along, else the resource.
 */
export class StaleFencingTokenError extends LockError {
  readonly code = 'STALE_FENCING_TOKEN';

  constructor(
    /** What was to be written: a Redis key, or the column that keeps the token. */
    readonly resource: string,
    /** The token that came too late. */
    readonly token: number,
    /** The newest token the resource has seen; undefined where it does not say, as in SQL. */
    readonly newest: number | undefined,
    key?: string,
  ) {
    super(
      newest === undefined
        ? `No row was written: its "${resource}" is above fencing token ${token}, for a later holder has written it; or there is no such row.`
        : `"${resource}" was not written: fencing token ${token} is older than ${newest}, under which a later holder has written.`,
      { key: key ?? resource },
    );
  }
}
