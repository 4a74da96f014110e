import type { Redis } from 'ioredis';
import { LockStoreError } from '../errors/index.js';
import type { Clock } from '../options/index.js';
import { deadline } from './deadline.js';
import { addressOf } from './open-client.js';
import { storeFailure } from './store-failure.js';

/** How long a first connection may take. */
export const START_TIMEOUT = 5_000;

/**
 * Connects and resolves when the client can be used.
 * @throws LockStoreError after `START_TIMEOUT`, at once when asking again cannot help.
 */
export function firstReady(client: Redis, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    let why = 'no answer';
    let retryable = true;
    const fail = (): void => {
      stop();
      const within = retryable ? ` within ${START_TIMEOUT} ms` : '';
      const message = `Redis at ${addressOf(client)} could not be used${within}: ${why}`;
      reject(new LockStoreError(message, { outcome: 'unsent', retryable }));
    };
    const onError = (error: Error): void => {
      const failure = storeFailure(error, undefined);
      why = failure.message;
      retryable = !(failure instanceof LockStoreError) || failure.retryable;
      if (!retryable) fail();
    };
    const onReady = (): void => {
      stop();
      resolve();
    };
    const cancel = deadline(clock, START_TIMEOUT, fail);
    const stop = (): void => {
      cancel();
      client.off('error', onError);
      client.off('ready', onReady);
    };
    client.on('error', onError);
    client.on('ready', onReady);
    client.connect().catch(onError);
  });
}
