import { setImmediate } from 'node:timers/promises';

/** Where the README's examples keep their balances: read and written one by one, as a database would be. */
class Balances {
  readonly #rows = new Map<string, number>();

  async read(id: string): Promise<number> {
    await setImmediate();
    return this.#rows.get(id) ?? 100;
  }

  async write(id: string, balance: number): Promise<void> {
    await setImmediate();
    this.#rows.set(id, balance);
  }
}

export const balances = new Balances();
