import type { Redis } from 'ioredis';
import type { Clock } from '../options/index.js';
import type { LuaScript } from './lua-script.js';
import { noAnswer, notSent, storeFailure } from './store-failure.js';

interface Pending {
  readonly key: string | undefined;
  readonly sentAt: number;
  fail(error: unknown): void;
}

/** What a command is sent for, and until when. */
export interface Sending {
  /** The lock's key, for messages. */
  readonly key?: string | undefined;
  /** False as soon as nobody needs the command any more: it is not repeated as EVAL then. */
  readonly wanted?: () => boolean;
}

/**
 * Our command connection. Every command settles within `timeout`, whatever ioredis or the network
 * does: answered, refused, or failed with what is known of its outcome. Nothing is sent twice.
 */
export class RedisConnection {
  /** In the order of sending, which with one timeout is the order of deadlines. */
  readonly #pending = new Set<Pending>();
  #cancelTimer: (() => void) | undefined;
  #lastAnswerAt = 0;

  constructor(
    readonly client: Redis,
    readonly timeout: number,
    private readonly clock: Clock,
  ) {
    client.on('close', () => this.#failAll());
    client.on('end', () => this.#failAll());
  }

  get ready(): boolean {
    return this.client.status === 'ready';
  }

  /** Runs a script by its hash; by its text if the server has forgotten it. */
  run(
    script: LuaScript<string, string>,
    keys: readonly string[],
    args: readonly (string | number)[],
    sending: Sending = {},
  ): Promise<unknown> {
    return this.send(sending.key, () =>
      this.client.evalsha(script.sha, keys.length, ...keys, ...args).catch((error: unknown) => {
        if (!(error instanceof Error && error.message.includes('NOSCRIPT'))) throw error;
        if (sending.wanted && !sending.wanted()) throw notSent(sending.key, 'the caller gave up');
        return this.client.eval(script.source, keys.length, ...keys, ...args);
      }),
    );
  }

  /** Sends one command of ioredis under the bounds of this connection. */
  send<T>(key: string | undefined, command: () => Promise<T>): Promise<T> {
    if (!this.ready) return Promise.reject(notSent(key));
    return new Promise<T>((resolve, reject) => {
      const pending: Pending = {
        key,
        sentAt: this.clock.monotonic(),
        fail: (error) => {
          this.#pending.delete(pending);
          reject(storeFailure(error, key));
        },
      };
      this.#pending.add(pending);
      command().then(
        (answer) => {
          this.#lastAnswerAt = this.clock.monotonic();
          this.#pending.delete(pending);
          resolve(answer);
        },
        (error: unknown) => {
          this.#lastAnswerAt = this.clock.monotonic();
          pending.fail(error);
        },
      );
      if (!this.#cancelTimer) this.#watch(this.timeout);
    });
  }

  #watch(ms: number): void {
    this.#cancelTimer = this.clock.after(ms, () => {
      this.#cancelTimer = undefined;
      const now = this.clock.monotonic();
      for (const pending of this.#pending) {
        const left = pending.sentAt + this.timeout - now;
        if (left > 0) return this.#watch(left);
        pending.fail(noAnswer(pending.key, this.timeout));
        this.#replaceIfSilentSince(pending.sentAt);
      }
    });
  }

  /** A connection on which nothing has been heard since an unanswered command is taken for half-open. */
  #replaceIfSilentSince(sentAt: number): void {
    if (this.#lastAnswerAt < sentAt && this.ready) this.client.disconnect(true);
  }

  #failAll(): void {
    for (const pending of this.#pending) {
      pending.fail(new Error('closed'));
    }
  }

  close(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.client.disconnect();
    this.#failAll();
  }
}
