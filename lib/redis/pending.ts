/** A command that waits for its answer. */
export class Pending {
  readonly promise: Promise<unknown>;
  resolve!: (answer: unknown) => void;
  reject!: (error: unknown) => void;
  /** It was answered or refused, or given up. */
  over = false;
  /** The one sent after it. */
  next: Pending | undefined;

  constructor(
    readonly key: string | undefined,
    readonly sentAt: number,
  ) {
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }
}

/** The commands that wait, in the order of sending, which with one timeout is the order of deadlines. */
export class PendingCommands {
  #first: Pending | undefined;
  #last: Pending | undefined;

  add(pending: Pending): void {
    if (this.first) this.#last!.next = pending;
    else this.#first = pending;
    this.#last = pending;
  }

  /** The one that has waited longest. */
  get first(): Pending | undefined {
    let first = this.#first;
    while (first?.over) {
      const { next } = first;
      first.next = undefined; // one that has grown old would keep all that came after it
      first = next;
    }
    this.#first = first;
    return first;
  }
}
