import { LockOptionsError, LockStoreError } from '../errors/index.js';
import { type Clock, onAbort } from '../options/index.js';
import { deadline } from './deadline.js';
import { serverOf } from './open-connection.js';
import { onEachConnection, pauseBefore } from './ioredis-workarounds.js';
import type { RedisConnection } from './redis-connection.js';
import { probe } from './server-probe.js';
import { notSent, storeFailure, unusable } from './store-failure.js';

/** How long a server may be silent before it is probed, and probed again, in ms. */
const PROBE_AFTER = 500;

/** A further condition of the first connection, and who is told why it is not ready yet. */
export interface Start {
  /** Rejects if the server cannot be used; the client reconnects if that may change. */
  readonly check?: () => Promise<unknown>;
  readonly failed?: ((message: string) => void) | undefined;
}

/**
 * Connects and resolves when the connection can be used.
 * @throws LockStoreError after its `connectTimeout`, at once if a retry cannot help or the connection is closed;
 * LockOptionsError of `check`.
 */
export function waitUntilReady(
  connection: RedisConnection,
  { check, failed }: Start = {},
): Promise<void> {
  const { client, clock, closed, connectTimeout } = connection;
  const where = serverOf(client);
  let failure: Error = notSent(undefined, 'no answer');
  /** Whether a probe found what is wrong, which tells more than the error of ioredis. */
  let isProbed = false;
  let isProbing = false;
  let isOver = false;
  return new Promise((resolve, reject) => {
    const end = (within = ''): void => {
      stop();
      reject(unusable(where, failure, within));
    };
    const blame = (error: Error): void => {
      failure = error;
      failed?.(unusable(where, error).message);
      if (!(error instanceof LockStoreError) || !error.retryable) end();
    };
    const attemptFailed = (error: unknown): void => {
      if (isOver) return;
      const why = error instanceof LockOptionsError ? error : storeFailure(error, undefined);
      const isVague = why instanceof LockStoreError && why.outcome === 'unknown';
      if (!isVague || !isProbed) blame(why);
    };
    const probeServer = (): void => {
      if (isProbing || isOver) return;
      isProbing = true;
      void probe(client.options, clock).then((found) => {
        isProbing = false;
        if (!found || isOver) return;
        isProbed = true;
        blame(found);
      });
    };
    const probeLater = (): (() => void) =>
      clock.after(PROBE_AFTER, () => {
        probeServer();
        cancelProbe = probeLater();
      });
    const ignoreConnections = onEachConnection(
      connection,
      async () => check?.(),
      () => {
        stop();
        resolve();
      },
      attemptFailed,
    );
    let cancelProbe = probeLater();
    const cancelEnd = deadline(clock, connectTimeout, () =>
      end(` within ${connectTimeout} ms (option "connectTimeout")`),
    );
    const ignoreClose = onAbort(closed, () => end());
    const stop = (): void => {
      isOver = true;
      cancelEnd();
      ignoreClose();
      cancelProbe();
      ignoreConnections();
      client.off('error', attemptFailed).off('close', probeServer);
    };
    client.on('error', attemptFailed).on('close', probeServer);
    client.connect().catch(attemptFailed);
  });
}

/**
 * Takes a step of a start, and repeats it for `ms` if a connection is lost meanwhile, as in a failover.
 * @throws the server's refusal of the step, at once; the last failure once the connection is `closed` or the time is over.
 */
export async function triedAtStart<Result>(
  step: () => Promise<Result>,
  ms: number,
  clock: Clock,
  closed: () => boolean,
): Promise<Result> {
  const end = clock.monotonic() + ms;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await step();
    } catch (error) {
      const isLost = error instanceof LockStoreError && error.outcome !== 'refused';
      if (!isLost || closed() || clock.monotonic() >= end) throw error;
      await new Promise<void>((go) => void clock.after(pauseBefore(attempt), go));
    }
  }
}
