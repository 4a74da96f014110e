import { LockOptionsError, LockStoreError } from '../errors/index.js';
import { type Clock, onAbort } from '../options/index.js';
import { deadline } from './deadline.js';
import { onEachConnection } from './each-connection.js';
import { hearAt } from './heard.js';
import { serverOf } from './open-client.js';
import type { RedisConnection } from './redis-connection.js';
import { notSent, storeFailure, unusable } from './store-failure.js';

/** How long a first connection may take, in ms. */
export const START_TIMEOUT = 5_000;
/** How long a server may be silent before it is asked, and asked again, what it is, in ms. */
const LISTEN_AFTER = 500;

/** What else a first connection has to be, and who wants to know why it is not yet. */
export interface Start {
  /** Rejects where the server cannot be used; it is connected to again where that may change. */
  readonly check?: () => Promise<unknown>;
  readonly failed?: (message: string) => void;
}

/**
 * Connects and resolves when the connection can be used.
 * @throws LockStoreError after `START_TIMEOUT`, at once when asking again cannot help or the connection is closed;
 * LockOptionsError of `check`.
 */
export function firstReady(
  connection: RedisConnection,
  clock: Clock,
  start: Start = {},
): Promise<void> {
  return new FirstConnection(connection, clock, start).made;
}

/** The attempts to make a first connection, and what is known of why they fail. */
class FirstConnection {
  readonly made: Promise<void>;
  #failure: Error = notSent(undefined, 'no answer');
  /** Whether the server itself said what is wrong, which tells more than what ioredis met. */
  #isHeard = false;
  #isHearing = false;
  #isOver = false;
  readonly #where: string;
  readonly #reject: (error: Error) => void;

  constructor(
    private readonly connection: RedisConnection,
    private readonly clock: Clock,
    private readonly start: Start,
  ) {
    const { client } = connection;
    this.#where = serverOf(client);
    let resolve!: () => void;
    let reject!: (error: Error) => void;
    this.made = new Promise((done, failed) => {
      resolve = done;
      reject = failed;
    });
    this.#reject = reject;
    const failed = (error: unknown): void => this.#failed(error);
    const closed = (): void => void this.#listen();
    const heedNoConnection = onEachConnection(
      client,
      async () => start.check?.(),
      resolve,
      (error) => {
        this.#failed(error);
        if (!this.#isOver) client.disconnect(true);
      },
    );
    const late = (): void => this.#end(` within ${START_TIMEOUT} ms`);
    const cancelLate = deadline(clock, START_TIMEOUT, late);
    const heedNot = onAbort(connection.closed, () => this.#end());
    let cancelListening = (): void => {};
    const listenLater = (): void => {
      cancelListening = clock.after(LISTEN_AFTER, () => {
        void this.#listen();
        listenLater();
      });
    };
    listenLater();
    const stop = (): void => {
      this.#isOver = true;
      cancelLate();
      heedNot();
      cancelListening();
      heedNoConnection();
      client.off('error', failed).off('close', closed);
    };
    this.made.then(stop, stop);
    client.on('error', failed).on('close', closed);
    client.connect().catch(failed);
  }

  #end(within = ''): void {
    this.#isOver = true;
    this.#reject(unusable(this.#where, this.#failure, within));
  }

  /** An attempt failed. */
  #failed(error: unknown): void {
    if (this.#isOver) return;
    const failure = error instanceof LockOptionsError ? error : storeFailure(error, undefined);
    const isVague = failure instanceof LockStoreError && failure.outcome === 'unknown';
    if (!isVague || !this.#isHeard) this.#blame(failure);
  }

  async #listen(): Promise<void> {
    if (this.#isHearing || this.#isOver) return;
    this.#isHearing = true;
    const heard = await hearAt(this.connection.client.options, this.clock);
    this.#isHearing = false;
    if (!heard || this.#isOver) return;
    this.#isHeard = true;
    this.#blame(heard);
  }

  #blame(failure: Error): void {
    this.#failure = failure;
    this.start.failed?.(unusable(this.#where, failure).message);
    if (!(failure instanceof LockStoreError) || !failure.retryable) this.#end();
  }
}
