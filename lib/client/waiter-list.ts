import type { Waiter } from './waiter.js';

/** Waiters in the order in which they came; joins and goes cost the same however many there are. */
export class WaiterList implements Iterable<Waiter> {
  first: Waiter | undefined;
  #last: Waiter | undefined;

  add(waiter: Waiter): void {
    waiter.before = this.#last;
    if (this.#last) this.#last.behind = waiter;
    else this.first = waiter;
    this.#last = waiter;
  }

  remove(waiter: Waiter): void {
    const { before, behind } = waiter;
    if (before) before.behind = behind;
    else this.first = behind;
    if (behind) behind.before = before;
    else this.#last = before;
    waiter.before = waiter.behind = undefined;
  }

  /** As they stand at the start, whoever goes meanwhile. */
  *[Symbol.iterator](): Generator<Waiter> {
    for (let waiter = this.first; waiter;) {
      const { behind } = waiter;
      yield waiter;
      waiter = behind;
    }
  }
}
