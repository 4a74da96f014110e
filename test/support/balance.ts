import { setImmediate as turn } from 'node:timers/promises';

/** Reads, waits and writes: loses updates unless one at a time runs it. */
export class Balance {
  value = 0;

  async add(amount: number): Promise<number> {
    const read = this.value;
    await turn();
    this.value = read + amount;
    return this.value;
  }
}
