import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { ReadStream, WriteStream } from 'node:tty';
import { cutTo, printable, printableJson } from './printable.js';

const ESCAPE = '\u001b';
/** Switches to the alternate screen without a cursor, and back. */
const ENTER = `${ESCAPE}[?1049h${ESCAPE}[?25l`;
const LEAVE = `${ESCAPE}[?25h${ESCAPE}[?1049l`;
const HOME = `${ESCAPE}[H`;
const REST_OF_LINE = `${ESCAPE}[K`;
const REST_OF_SCREEN = `${ESCAPE}[J`;

/** The streams of a terminal. */
export interface Streams {
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
  readonly stderr: WriteStream;
}

/** Prints all output, line by line, so that no text of Redis reaches the user's terminal as a control character. */
export class Terminal {
  readonly #closed = new AbortController();
  /** Aborts when standard output is closed by its reader. */
  readonly closed: AbortSignal = this.#closed.signal;
  #isDrawing = false;

  constructor(private readonly streams: Streams) {
    const { stdout, stderr } = streams;
    stdout.on('error', () => this.#closed.abort());
    stderr.on('error', () => {});
  }

  /** True if standard output is a terminal. */
  get isScreen(): boolean {
    return Boolean(this.streams.stdout.isTTY);
  }

  /** True if a person can answer a question. */
  get canAsk(): boolean {
    return Boolean(this.streams.stdin.isTTY && this.streams.stderr.isTTY);
  }

  /** The width in columns; Infinity without a screen. */
  get columns(): number {
    return (this.isScreen && this.streams.stdout.columns) || Infinity;
  }

  /** Writes one line to standard output. */
  print(line: string): void {
    this.streams.stdout.write(`${printable(line)}\n`);
  }

  printJson(value: unknown): void {
    this.streams.stdout.write(`${printableJson(value)}\n`);
  }

  /** Writes one line to standard error. */
  complain(line: string): void {
    this.streams.stderr.write(`${printable(line)}\n`);
  }

  /** Resolves when the reader of the output has caught up, or is gone. */
  async caughtUp(): Promise<void> {
    const { stdout } = this.streams;
    if (!stdout.writableNeedDrain || this.closed.aborted) return;
    await once(stdout, 'drain', { signal: this.closed }).catch(() => {});
  }

  /** Replaces the lines drawn before; lines beyond the screen are left out. */
  draw(lines: readonly string[]): void {
    const { stdout } = this.streams;
    const fitting = lines.slice(0, (stdout.rows || Infinity) - 1); // a terminal that does not know its size says 0 rows
    const text = fitting
      .map((line) => `${cutTo(printable(line), this.columns)}${REST_OF_LINE}\n`)
      .join('');
    stdout.write(`${this.#isDrawing ? '' : ENTER}${HOME}${text}${REST_OF_SCREEN}`);
    this.#isDrawing = true;
  }

  /** Restores the user's screen. */
  endDrawing(): void {
    if (this.#isDrawing) this.streams.stdout.write(LEAVE);
    this.#isDrawing = false;
  }

  /** Asks a question; resolves to true only for yes, and to false for another word, the end of input, or Ctrl+C. */
  async confirms(question: string): Promise<boolean> {
    const { stdin: input, stderr: output } = this.streams;
    const lines = createInterface({ input, output });
    try {
      return await new Promise<boolean>((resolve) => {
        lines.once('close', () => resolve(false));
        lines.once('SIGINT', () => lines.close());
        lines.question(`${printable(question)} [y/N] `, (answer) =>
          resolve(/^y(es)?$/i.test(answer.trim())),
        );
      });
    } finally {
      lines.close();
    }
  }
}
