import { LockStoreError } from '../../engine/errors/index.js';
import type { StoreDescription } from '../../engine/locks/lock-store.js';
import type { Publisher } from '../../engine/events/index.js';
import { type ModuleSettings, NATIVE, span } from '../../engine/options/index.js';
import { logger } from './logger.js';

/** Logs the server that was found at start-up, and the options in force. */
export function logStart(
  { found, warnings }: StoreDescription,
  { keyPrefix, call }: ModuleSettings,
): void {
  const { ttl, wait, fencing, format } = call;
  const keys =
    format === NATIVE
      ? `keys "${keyPrefix}…"`
      : `dialect "${format.name}", keys "${format.prefix}…"`;
  logger.log(
    `${found}; ${keys}, ttl ${ttl} ms, wait ${wait} ms, fencing ${fencing ? 'on' : 'off'}`,
  );
  for (const warning of warnings) logger.warn(warning);
}

/** Returns the error of a failed start; if nothing listens at the address, with a hint at `lazyConnect`. */
export function withWayOut(error: unknown): unknown {
  if (!(error instanceof LockStoreError) || error.code !== 'LOCK_STORE') return error;
  if (!error.message.includes('ECONNREFUSED')) return error;
  const message = `${error.message} Option "lazyConnect" starts the application without Redis.`;
  return new LockStoreError(message, { retryable: error.retryable, outcome: error.outcome });
}

/** Reports lost, restored and replaced connections to Redis, in the log and to listeners of events. */
export function outageLog(publisher: Publisher) {
  const { origin } = publisher;
  const { module } = origin;
  const of = module === undefined ? {} : { module };
  const logged = new Set<string>();
  return {
    lost(server: string, cause: string | undefined): void {
      const why = cause === undefined ? '' : ` (${cause})`;
      logger.warn(
        `Redis at ${server} is not connected any more${why}; reconnecting. Locks that are held last for the rest of their leases.`,
        { event: 'disconnected', server, cause, ...of },
      );
      publisher.tell('disconnected', () => ({ server, cause, ...origin }));
    },
    back(server: string, outage: number): void {
      logger.log(`Redis at ${server} is connected again after ${span(outage)}.`, {
        event: 'connected',
        server,
        outage: Math.round(outage),
        ...of,
      });
      publisher.tell('connected', () => ({ server, outage, ...origin }));
    },
    replaced(server: string): void {
      const text = `Redis at ${server} has no slots of the Cluster any more: other nodes have its locks.`;
      logger.log(text, { event: 'replaced', server, ...of });
      publisher.tell('replaced', () => ({ server, ...origin }));
    },
    unheard(why: string): void {
      if (logged.has(why)) return;
      logged.add(why);
      logger.error(
        `The inbox of this process is refused: ${why}. Its callers are not told of their turn, and find it by asking, up to a second late.`,
        { event: 'unheard', ...of },
      );
    },
  };
}

/** The consequence of a step that Redis refused for good, when no caller is left to get the error. */
const CONSEQUENCES = {
  release: 'A lock could not be given back, and stays taken until its lease ends',
  renewal: 'A lease could not be renewed, and ends with its ttl',
};

/** Returns a function that logs each refusal once, with its consequence and without the lock's key. */
export function refusalLog(): (error: LockStoreError, step: 'release' | 'renewal') => void {
  const logged = new Set<string>();
  return ({ message, key }, step) => {
    const cause = key === undefined ? message : message.replace(` for lock "${key}"`, '');
    const text = `${CONSEQUENCES[step]}. ${cause}`;
    if (logged.has(text)) return;
    logged.add(text);
    logger.error(text);
  };
}

/** The most locks that the log names at a shutdown. */
const NAMED = 20;

/** Logs the locks that a shutdown took from code that still held them when `shutdownGrace` was over. */
export function logTaken(keys: readonly string[], grace: number): void {
  if (keys.length === 0) return;
  const named = keys.slice(0, NAMED).map((key) => `"${key}"`);
  const more = keys.length > NAMED ? ` and ${keys.length - NAMED} more` : '';
  logger.warn(
    `The application shuts down: after ${grace} ms (option "shutdownGrace") these locks were still held, and were given back: ${named.join(', ')}${more}.`,
  );
}
