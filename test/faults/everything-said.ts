import { jest } from '@jest/globals';
import { inspect } from 'node:util';
import { Heard } from '../support/heard.js';

export const USER = 'pl4nted-user';
export const PASSWORD = 'pl4nted-password';
export const WRONG = 'wr0ng-password';

export const secrets = new Set([USER, PASSWORD, WRONG]);

/** All that leaves the library as text from here on, and what its channels tell. */
export class EverythingSaid {
  readonly #heard = new Heard();
  said: string[] = [];

  constructor() {
    for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const) {
      jest
        .spyOn(console, method)
        .mockImplementation((...words) => void this.said.push(words.join(' ')));
    }
    for (const stream of [process.stdout, process.stderr]) {
      jest.spyOn(stream, 'write').mockImplementation((text) => this.said.push(String(text)) > 0);
    }
  }

  /** Everything one can write of a value into a log. */
  say(value: unknown): void {
    this.said.push(
      String(value),
      JSON.stringify(value) ?? '',
      inspect(value, { depth: 10, showHidden: true, getters: true }),
      value instanceof Error ? `${value.stack} ${inspect(value.cause)}` : '',
    );
  }

  /** What the channels told. */
  get told(): readonly unknown[] {
    return [this.#heard.calls, this.#heard.holds, this.#heard.told];
  }

  endListening(): void {
    this.#heard[Symbol.dispose]();
    jest.restoreAllMocks();
  }
}
