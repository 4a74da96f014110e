import type { Clock } from '../options/index.js';
import { deadline } from './deadline.js';
import { type Pending, PendingCommands } from './pending.js';
import { decoded } from './resp.js';
import { noAnswer, storeFailure } from './store-failure.js';

/** The commands of one connection that wait for an answer. Each settles within `timeout`, whatever comes. */
export class InFlightCommands {
  readonly #pending = new PendingCommands();
  #cancelTimer: (() => void) | undefined;
  #lastAnswerAt = 0;

  constructor(
    private readonly timeout: number,
    private readonly clock: Clock,
    /** Told when nothing was heard since a command that was not answered in time. */
    private readonly silent: () => void,
  ) {}

  add(pending: Pending): void {
    this.#pending.add(pending);
    if (!this.#cancelTimer) this.#watch(this.timeout);
  }

  answered(
    pending: Pending,
    reply: unknown,
    read: (reply: unknown, receivedAt: number) => unknown,
  ): void {
    if (this.over(pending)) return;
    try {
      pending.resolve(read(decoded(reply), this.#lastAnswerAt));
    } catch (error) {
      pending.reject(error);
    }
  }

  failed(pending: Pending, error: unknown): void {
    if (!this.over(pending)) pending.reject(storeFailure(error, pending.key));
  }

  /** Something came for this command. True if it had been given up before. */
  over(pending: Pending): boolean {
    this.#lastAnswerAt = this.clock.monotonic();
    const { over } = pending;
    pending.over = true;
    return over;
  }

  /** An answer came that decides nothing: the command is sent again, and waits no longer for it. False if it had been given up before. */
  waits(pending: Pending): boolean {
    this.#lastAnswerAt = this.clock.monotonic();
    return !pending.over;
  }

  /** No answer comes any more. */
  failAll(): void {
    for (let pending = this.#pending.first; pending; pending = this.#pending.first) {
      this.#giveUp(pending, storeFailure(new Error('closed'), pending.key));
    }
  }

  close(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.failAll();
  }

  #watch(ms: number): void {
    this.#cancelTimer = deadline(this.clock, ms, () => {
      this.#cancelTimer = undefined;
      const now = this.clock.monotonic();
      let left = 0;
      let silent = false;
      for (let pending = this.#pending.first; pending; pending = this.#pending.first) {
        left = pending.sentAt + this.timeout - now;
        if (left > 0) break;
        this.#giveUp(pending, noAnswer(pending.key, this.timeout));
        silent ||= this.#lastAnswerAt < pending.sentAt;
      }
      if (silent) this.silent();
      if (left > 0) this.#watch(left);
    });
  }

  #giveUp(pending: Pending, error: Error): void {
    pending.over = true;
    pending.reject(error);
  }
}
