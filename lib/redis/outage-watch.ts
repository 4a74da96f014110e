import type { Redis } from 'ioredis';
import type { Clock } from '../options/index.js';
import { addressOf } from './open-connection.js';
import { systemCodeOf } from './store-failure.js';

/** Told of a server whose connection was lost, and of its return. */
export interface OutageListener {
  /** `cause` is a code of the operating system, where there is one. */
  lost(address: string, cause: string | undefined): void;
  /** After an outage of so many ms. */
  back(address: string, outage: number): void;
}

/** How far apart the outages of one connection are told, in ms: a shorter one in between is not. */
const APART = 10_000;

/** Watches a connection that was made once, until we close it ourselves. */
export class OutageWatch {
  #since: number | undefined;
  #told = false;
  #lastTold = -Infinity;
  #cause: string | undefined;
  #cancel = (): void => {};
  readonly #stop: () => void;

  constructor(
    private readonly client: Redis,
    private readonly clock: Clock,
    private readonly listener?: OutageListener | undefined,
  ) {
    const failed = (error: unknown): void => {
      this.#cause = systemCodeOf(error) ?? this.#cause;
    };
    const lost = (): void => this.#lost();
    client.on('error', failed).on('close', lost);
    this.#stop = () => void client.off('error', failed).off('close', lost);
  }

  /** What is said of a command that cannot be sent meanwhile. */
  get says(): string {
    const why = this.#cause === undefined ? '' : ` (${this.#cause})`;
    return `Redis at ${addressOf(this.client)} is not connected${why}`;
  }

  /** The connection can be used again. */
  back(): void {
    this.#cancel();
    const outage = this.clock.monotonic() - (this.#since ?? 0);
    this.#since = this.#cause = undefined;
    if (!this.#told) return;
    this.#told = false;
    this.#say((listener, address) => listener.back(address, outage));
  }

  close(): void {
    this.#cancel();
    this.#stop();
  }

  #lost(): void {
    if (this.#since !== undefined) return;
    this.#since = this.clock.monotonic();
    const rest = this.#lastTold + APART - this.#since;
    if (rest <= 0) this.#tell();
    else this.#cancel = this.clock.after(rest, () => this.#tell());
  }

  #tell(): void {
    this.#told = true;
    this.#lastTold = this.clock.monotonic();
    this.#say((listener, address) => listener.lost(address, this.#cause));
  }

  /** What a listener throws is no part of the connection: the client would end the process, or not connect again. */
  #say(what: (listener: OutageListener, address: string) => void): void {
    try {
      if (this.listener) what(this.listener, addressOf(this.client));
    } catch {}
  }
}
