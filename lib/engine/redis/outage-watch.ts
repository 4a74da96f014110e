import type { Redis } from 'ioredis';
import type { Clock } from '../options/index.js';
import { addressOf } from './open-connection.js';
import { causeOf } from './store-failure.js';

/** Called when the connection to a server is lost, and when the outage is over. */
export interface OutageListener {
  /** `cause`: a code of the operating system, or of a Redis that refuses the connection, if there is one. */
  lost(address: string, cause: string | undefined): void;
  /** The connection is back, after an outage of `outage` ms. */
  back(address: string, outage: number): void;
  /** The server is no longer needed: the Cluster has others for its slots. */
  replaced?(address: string): void;
  /** Redis refuses the inbox's subscription for good: `why` says what is missing. */
  unheard?(why: string): void;
}

/** The least time between reported outages of one connection, in ms: a shorter one in between is not reported. */
const APART = 10_000;

/** Codes that say less than one known before: the connection ended, or a password is missing after one was refused. */
const AFTER: Readonly<Record<string, RegExp>> = {
  EPIPE: /./,
  ECONNRESET: /./,
  NOAUTH: /^WRONGPASS$/,
};

/** Watches a connection that was ready once, until the library closes it. */
export class OutageWatch {
  #since: number | undefined;
  #isReported = false;
  #reportedAt = -Infinity;
  #cause: string | undefined;
  #cancel = (): void => {};

  constructor(
    private readonly client: Redis,
    private readonly clock: Clock,
    private readonly listener?: OutageListener | undefined,
  ) {
    client.on('error', this.failed).on('close', this.#lost);
    const { reconnectOnError } = client.options;
    // A replica's answer makes the client end the connection, and reaches nobody else.
    client.options.reconnectOnError = (error) => {
      const ends = reconnectOnError?.(error) ?? false;
      if (ends) this.failed(error);
      return ends;
    };
  }

  /** Why no command can be sent during the outage. */
  get says(): string {
    const why = this.#cause === undefined ? '' : ` (${this.#cause})`;
    return `Redis at ${addressOf(this.client)} is not connected${why}`;
  }

  /** The client failed to connect, or the server refused the first commands. */
  readonly failed = (error: unknown): void => {
    const cause = causeOf(error);
    if (cause && !AFTER[cause]?.test(this.#cause ?? '')) this.#cause = cause;
  };

  /** The connection can be used again. */
  back(): void {
    this.#cancel();
    const outage = this.clock.monotonic() - (this.#since ?? 0);
    this.#since = this.#cause = undefined;
    if (!this.#isReported) return;
    this.#isReported = false;
    this.#tell((listener, address) => listener.back(address, outage));
  }

  /** `isReplaced`: other servers are connected instead. */
  close(isReplaced = false): void {
    if (isReplaced && this.#isReported)
      this.#tell((listener, address) => listener.replaced?.(address));
    this.#isReported = false;
    this.#cancel();
    this.client.off('error', this.failed).off('close', this.#lost);
  }

  readonly #lost = (): void => {
    if (this.#since !== undefined) return;
    this.#since = this.clock.monotonic();
    const rest = this.#reportedAt + APART - this.#since;
    if (rest <= 0) this.#report();
    else this.#cancel = this.clock.after(rest, () => this.#report());
  };

  #report(): void {
    this.#isReported = true;
    this.#reportedAt = this.clock.monotonic();
    this.#tell((listener, address) => listener.lost(address, this.#cause));
  }

  /** Calls the listener, and drops its errors: ioredis would end the process on them, or not connect again. */
  #tell(what: (listener: OutageListener, address: string) => void): void {
    try {
      if (this.listener) what(this.listener, addressOf(this.client));
    } catch {}
  }
}
