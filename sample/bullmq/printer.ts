import { setTimeout } from 'node:timers/promises';

export interface Page {
  readonly account: string;
  readonly page: number;
  readonly balance: number;
  readonly fencingToken: number;
}

/** Slow, and shared by all replicas. */
export class Printer {
  readonly pages: Page[] = [];

  async print(page: Page): Promise<void> {
    await setTimeout(100);
    this.pages.push(page);
  }
}
