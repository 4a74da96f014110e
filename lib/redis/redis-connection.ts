import { Command, type Redis } from 'ioredis';
import type { Clock } from '../options/index.js';
import type { LuaScript, Operand } from './lua-script.js';
import { noAnswer, notSent, storeFailure } from './store-failure.js';
import { WriteBatch } from './write-batch.js';

const ENCODING = { replyEncoding: 'utf8' } as const;

/** A command that waits for its answer. */
class Pending {
  constructor(
    readonly key: string | undefined,
    readonly sentAt: number,
    readonly reject: (error: unknown) => void,
  ) {}
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
  readonly #batch: WriteBatch;
  #cancelTimer: (() => void) | undefined;
  #lastAnswerAt = 0;

  constructor(
    readonly client: Redis,
    readonly timeout: number,
    private readonly clock: Clock,
  ) {
    this.#batch = new WriteBatch(client);
    client.on('close', () => this.#failAll());
    client.on('end', () => this.#failAll());
  }

  get ready(): boolean {
    return this.client.status === 'ready';
  }

  /** Runs a script by its hash; by its text if the server has forgotten it. */
  run(
    script: LuaScript<string, string>,
    operands: readonly Operand[],
    { key, wanted }: Sending = {},
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#send('evalsha', [script.sha, ...operands], key, resolve, (error) => {
        if (!(error instanceof Error && error.message.includes('NOSCRIPT'))) {
          reject(storeFailure(error, key));
        } else if (wanted && !wanted()) {
          reject(notSent(key, 'the caller gave up'));
        } else {
          this.send('eval', [script.source, ...operands], key).then(resolve, reject);
        }
      });
    });
  }

  /** Sends one command under the bounds of this connection. */
  send(name: string, args: readonly Operand[] = [], key?: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#send(name, args, key, resolve, (error) => reject(storeFailure(error, key)));
    });
  }

  #send(
    name: string,
    args: readonly Operand[],
    key: string | undefined,
    resolve: (answer: unknown) => void,
    reject: (error: unknown) => void,
  ): void {
    if (!this.ready) return reject(notSent(key));
    const pending = new Pending(key, this.clock.monotonic(), reject);
    const command = new Command(name, args as Operand[], ENCODING, (error, answer) => {
      this.#lastAnswerAt = this.clock.monotonic();
      if (!this.#pending.delete(pending)) return; // it was given up before
      if (error) reject(error);
      else resolve(answer);
    });
    this.#pending.add(pending);
    this.#batch.next();
    void this.client.sendCommand(command);
    if (!this.#cancelTimer) this.#watch(this.timeout);
  }

  #watch(ms: number): void {
    this.#cancelTimer = this.clock.after(ms, () => {
      this.#cancelTimer = undefined;
      const now = this.clock.monotonic();
      for (const pending of this.#pending) {
        const left = pending.sentAt + this.timeout - now;
        if (left > 0) return this.#watch(left);
        this.#fail(pending, noAnswer(pending.key, this.timeout));
        this.#replaceIfSilentSince(pending.sentAt);
      }
    });
  }

  /** A connection on which nothing has been heard since an unanswered command is taken for half-open. */
  #replaceIfSilentSince(sentAt: number): void {
    if (this.#lastAnswerAt < sentAt && this.ready) this.client.disconnect(true);
  }

  #fail(pending: Pending, error: Error): void {
    this.#pending.delete(pending);
    pending.reject(error);
  }

  #failAll(): void {
    for (const pending of this.#pending) this.#fail(pending, new Error('closed'));
  }

  close(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.client.disconnect();
    this.#failAll();
  }
}
