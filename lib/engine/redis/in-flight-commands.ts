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
  /** True once the command was answered, refused or given up. */
  over = false;
  /** The command sent after this one. */
  next: InFlightCommand | undefined;

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

/**
 * The commands of one connection that wait for an answer. Each settles within `timeout`, whatever comes. They stand in the
 * order of sending, which with one timeout is the order of deadlines: in a list, since V8 keeps what a Set has outgrown.
 */
export class InFlightCommands {
  #first: InFlightCommand | undefined;
  #last: InFlightCommand | undefined;
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
    if (this.#oldest()) this.#last!.next = command;
    else this.#first = command;
    this.#last = command;
    if (!this.#cancelTimer) this.#watch(this.timeout);
  }

  answered(command: InFlightCommand, reply: unknown): void {
    if (!this.received(command)) return;
    command.over = true;
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
    return !command.over;
  }

  giveUp(command: InFlightCommand, error: Error): void {
    command.over = true;
    command.reject(error);
  }

  /** Fails all commands: no answer comes any more. */
  failAll(): void {
    for (let command = this.#oldest(); command; command = this.#oldest()) {
      this.giveUp(command, storeFailure(new Error('closed'), command.key));
    }
  }

  close(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.failAll();
  }

  /** The command that has waited longest. */
  #oldest(): InFlightCommand | undefined {
    let first = this.#first;
    while (first?.over) {
      const { next } = first;
      first.next = undefined; // a command in V8's old generation would keep all later ones
      first = next;
    }
    this.#first = first;
    return first;
  }

  #watch(ms: number): void {
    this.#cancelTimer = deadline(this.clock, ms, () => {
      this.#cancelTimer = undefined;
      const now = this.clock.monotonic();
      let left = 0;
      let silent = false;
      for (let command = this.#oldest(); command; command = this.#oldest()) {
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
