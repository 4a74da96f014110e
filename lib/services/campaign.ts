/** One wait for something, shared by all callers that ask for it meanwhile. It is given up when the last of them has gone. */
export class Campaign<Won> {
  readonly #withdrawal = new AbortController();
  readonly #won: Promise<Won>;
  #waiting = 0;
  #concluded = false;

  /** `win` leaves nothing behind when its signal has aborted. */
  constructor(win: (signal: AbortSignal) => Promise<Won>) {
    this.#won = win(this.#withdrawal.signal);
    this.#won.catch(() => {}); // the callers that wait are told
  }

  /** Nobody waits for it any more; it may not have come to its end yet. */
  get withdrawn(): boolean {
    return this.#withdrawal.signal.aborted;
  }

  /** Resolves when it is won; rejects with `signal.reason`, with the reason of the withdrawal, or as `win` does. */
  join(signal: AbortSignal | undefined): Promise<Won> {
    this.#waiting += 1;
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        if (this.#concluded) return;
        this.#waiting -= 1;
        if (this.#waiting === 0) this.withdraw(signal!.reason);
        reject(signal!.reason);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      const settled = (): void => signal?.removeEventListener('abort', onAbort);
      this.#won.finally(settled).then(resolve, reject);
    });
  }

  /** It is won: from now on an abort comes too late. */
  conclude(): void {
    this.#concluded = true;
  }

  withdraw(reason: unknown): void {
    if (!this.#concluded) this.#withdrawal.abort(reason);
  }
}
