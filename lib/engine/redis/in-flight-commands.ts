import type { Clock } from '../options/index.js';
import { deadline } from './deadline.js';
import { decoded } from './resp.js';
import { LockError } from '../errors/index.js';
import { garbled, noAnswer, storeFailure } from './store-failure.js';

/** A command that waits for its answer. */
export class InFlightCommand {
  readonly promise: Promise<unknown>;
  resolve!: (answer: unknown) => void;
  reject!: (error: unknown) => void;

  constructor(
    readonly key: string | undefined,
    readonly sentAt: number,
  ) {
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  /** Interprets the reply; may throw the error with which the command rejects. */
  read(reply: unknown, _receivedAt: number): unknown {
    return reply;
  }
}

/** The commands of one connection that wait for an answer. Each settles within `timeout`, whatever comes. */
export class InFlightCommands {
  /** The commands in the order of sending, which with one timeout is the order of deadlines. */
  readonly #waiting = new Set<InFlightCommand>();
  #cancelTimer: (() => void) | undefined;
  /** When the last answer came, in monotonic ms; -Infinity before the first. */
  lastAnswerAt = -Infinity;

  constructor(
    private readonly timeout: number,
    private readonly clock: Clock,
    /** Called when no reply came since a command that timed out was sent, or a reply does not fit its command. */
    private readonly broken: () => void,
  ) {}

  add(command: InFlightCommand): void {
    this.#waiting.add(command);
    if (!this.#cancelTimer) this.#watch(this.timeout);
  }

  answered(command: InFlightCommand, reply: unknown): void {
    if (!this.received(command)) return;
    this.#waiting.delete(command);
    try {
      command.resolve(command.read(decoded(reply), this.lastAnswerAt));
    } catch (error) {
      if (error instanceof LockError) return command.reject(error);
      command.reject(garbled(command.key));
      this.failAll(); // a reply was lost, so each later one belongs to another command
      this.broken();
    }
  }

  failed(command: InFlightCommand, error: unknown): void {
    if (this.received(command)) this.giveUp(command, storeFailure(error, command.key));
  }

  /** A reply came for this command. False if the command had been given up before. */
  received(command: InFlightCommand): boolean {
    this.lastAnswerAt = this.clock.monotonic();
    return this.#waiting.has(command);
  }

  giveUp(command: InFlightCommand, error: Error): void {
    this.#waiting.delete(command);
    command.reject(error);
  }

  /** Fails all commands: no answer comes any more. */
  failAll(): void {
    for (const command of this.#waiting) {
      this.giveUp(command, storeFailure(new Error('closed'), command.key));
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
      for (const command of this.#waiting) {
        left = command.sentAt + this.timeout - now;
        if (left > 0) break;
        this.giveUp(command, noAnswer(command.key, this.timeout));
        silent ||= this.lastAnswerAt < command.sentAt;
      }
      if (silent) this.broken();
      if (left > 0) this.#watch(left);
    });
  }
}
