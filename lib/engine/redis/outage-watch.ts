import type { Redis } from 'ioredis';
import type { Clock } from '../options/index.js';
import { addressOf } from './open-connection.js';
import { causeOf } from './store-failure.js';

/** Called when the connection to a server was lost, and when that is over. */
export interface OutageListener {
  /** `cause` is a code of the operating system, or of Redis where it refuses the connection; where there is one. */
  lost(address: string, cause: string | undefined): void;
  /** After an outage of so many ms. */
  back(address: string, outage: number): void;
  /** Nobody waits for it any more: the Cluster has others for its slots. */
  replaced?(address: string): void;
  /** Redis refuses the inbox for good: `why` says what is missing. */
  unheard?(why: string): void;
}

/** How far apart the outages of one connection are reported, in ms: a shorter one in between is not. */
const APART = 10_000;

/** Codes that say less than those known before: a connection ended, or a password is needed once one was refused. */
const AFTER: Readonly<Record<string, RegExp>> = {
  EPIPE: /./,
  ECONNRESET: /./,
  NOAUTH: /^WRONGPASS$/,
};

/** Watches a connection that was made once, until we close it ourselves. */
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
    // A replica's answer is why the client ends the connection, and nobody else is told of it.
    client.options.reconnectOnError = (error) => {
      const ends = reconnectOnError?.(error) ?? false;
      if (ends) this.failed(error);
      return ends;
    };
  }

  /** Why a command cannot be sent meanwhile. */
  get says(): string {
    const why = this.#cause === undefined ? '' : ` (${this.#cause})`;
    return `Redis at ${addressOf(this.client)} is not connected${why}`;
  }

  /** The client failed to connect, or the server to take what was sent first. */
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

  /** `isReplaced`: others are connected to in its stead. */
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

  /** What a listener throws is no part of the connection: the client would end the process, or not connect again. */
  #tell(what: (listener: OutageListener, address: string) => void): void {
    try {
      if (this.listener) what(this.listener, addressOf(this.client));
    } catch {}
  }
}
