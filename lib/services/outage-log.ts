import { logger } from './logger.js';

/** Says that a connection to Redis was lost, and that it is back. */
export const outageLog = {
  lost(address: string, cause: string | undefined): void {
    const why = cause === undefined ? '' : ` (${cause})`;
    logger.warn(
      `Redis at ${address} is not connected any more${why}; reconnecting. Locks that are held last for the rest of their leases.`,
    );
  },
  back(address: string, outage: number): void {
    const span = outage < 1_000 ? `${Math.round(outage)} ms` : `${Math.round(outage / 1_000)} s`;
    logger.log(`Redis at ${address} is connected again after ${span}.`);
  },
};
