const WIDTH = 40;
const EVERY = 50;

/** A bar that grows in place on a terminal; elsewhere only its last line is written. */
export class ProgressBar {
  #done = 0;
  #drawn = 0;

  constructor(
    private readonly title: string,
    private readonly total: number,
    private readonly out: NodeJS.WriteStream = process.stdout,
  ) {}

  advance(): void {
    this.#done += 1;
    const now = performance.now();
    if (!this.out.isTTY || now - this.#drawn < EVERY) return;
    this.#drawn = now;
    const filled = Math.floor((this.#done / this.total) * WIDTH);
    const bar = '█'.repeat(filled) + '░'.repeat(WIDTH - filled);
    this.out.write(`\r${this.title} ${bar} ${this.#done}/${this.total}`);
  }

  finish(result: string): void {
    if (this.out.isTTY) this.out.write('\r\x1b[K');
    this.out.write(`${this.title} ${result}\n`);
  }
}
