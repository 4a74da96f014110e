import { someHearNames } from './lock-channels.js';

/** The most keys that are remembered; the oldest are forgotten first. */
const REMEMBERED = 5_000;

/** The labels of keys that were made from a template: its text alone, `account:<>` for `account:42`. */
class KeyLabels {
  #wanted = false;
  readonly #byKey = new Map<string, string>();
  /** The labels by the template's text array, which the compiler makes once for each place in the code. */
  readonly #byText = new WeakMap<readonly string[], string>();

  /** Remembers labels from now on, since somebody wants them. */
  want(): void {
    this.#wanted = true;
  }

  /** Remembers the label of a key, once somebody listens. */
  note(key: string, text: readonly string[]): void {
    if (!this.#wanted && !someHearNames()) return;
    let name = this.#byText.get(text);
    if (name === undefined) this.#byText.set(text, (name = text.join('<>')));
    if (!this.#byKey.has(key) && this.#byKey.size >= REMEMBERED) {
      const [oldest] = this.#byKey.keys();
      this.#byKey.delete(oldest!);
    }
    this.#byKey.set(key, name);
  }

  of(key: string): string | undefined {
    return this.#byKey.get(key);
  }
}

/** The labels of all modules in the process: `lockKey` knows no module. */
export const keyLabels = new KeyLabels();
