/** A book that knows nothing of locks: who reads the last number and writes the next one must be alone with it. */
export class Book {
  readonly numbers: number[] = [];

  async last(): Promise<number> {
    await new Promise((resolve) => setTimeout(resolve, 1));
    return this.numbers.at(-1) ?? 0;
  }

  async enter(number: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 1));
    this.numbers.push(number);
  }
}
