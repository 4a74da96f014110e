import { setImmediate as turn } from 'node:timers/promises';

/** Resolves as soon as `fact` is true: a test goes on when something has happened, not after a while. */
export async function until(fact: () => unknown): Promise<void> {
  const giveUpAt = performance.now() + 20_000;
  while (!(await fact())) {
    if (performance.now() > giveUpAt) throw new Error(`It never happened: ${String(fact)}`);
    await turn();
  }
}

/** What a test makes somebody wait for. */
export class Gate {
  readonly opened: Promise<void>;
  open!: () => void;

  constructor() {
    this.opened = new Promise((resolve) => {
      this.open = resolve;
    });
  }
}
