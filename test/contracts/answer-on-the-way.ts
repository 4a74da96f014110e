import { Gate } from '../support/gate.js';
import { withSteps, type Wrap } from '../support/world.js';

/** An answer of `step` that stays on the way, and what comes of it. */
export class AnswerOnTheWay {
  readonly #read = new Gate();
  readonly #came = new Gate();
  #awaited = false;

  /** Around a store: the next answer to `step` that grants something is delivered when a test says so. */
  on(step: 'acquire' | 'extend' | 'transfer'): Wrap {
    return (store) => {
      const run = store[step].bind(store) as (...operands: unknown[]) => Promise<unknown>;
      return withSteps(store, {
        [step]: async (...operands: unknown[]) => {
          const answer = await run(...operands);
          if (!this.#awaited || isWait(answer)) return answer;
          this.#awaited = false;
          this.#came.open();
          await this.#read.opened;
          return answer;
        },
      });
    };
  }

  /** The next one is kept on the way. */
  holdNext(): void {
    this.#awaited = true;
  }

  /** The server has answered. */
  get came(): Promise<void> {
    return this.#came.opened;
  }

  deliver(): void {
    this.#read.open();
  }
}

/** Who asked has to go on waiting. */
function isWait(answer: unknown): boolean {
  const { kind = 'held' } = answer as { kind?: string };
  return kind !== 'held';
}
