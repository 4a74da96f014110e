import { someHearCalls } from './lock-channels.js';

/** How many keys are remembered; the oldest are forgotten first. */
const REMEMBERED = 5_000;

/** What keys that were made of texts and values are called: the text alone, `account:<>` for `account:42`. */
class KeyLabels {
  #wanted = false;
  readonly #byKey = new Map<string, string>();
  /** By the text as the compiler made it, once for each place in the code. */
  readonly #byText = new WeakMap<readonly string[], string>();

  /** Somebody wants to know from now on. */
  want(): void {
    this.#wanted = true;
  }

  /** Nothing is remembered until somebody listens. */
  note(key: string, text: readonly string[]): void {
    if (!this.#wanted && !someHearCalls()) return;
    let name = this.#byText.get(text);
    if (name === undefined) this.#byText.set(text, (name = text.join('<>')));
    if (!this.#byKey.has(key) && this.#byKey.size >= REMEMBERED) {
      for (const oldest of this.#byKey.keys()) {
        this.#byKey.delete(oldest);
        break;
      }
    }
    this.#byKey.set(key, name);
  }

  of(key: string): string | undefined {
    return this.#byKey.get(key);
  }
}

/** Of all modules in the process: who makes a key knows of none. */
export const keyLabels = new KeyLabels();
