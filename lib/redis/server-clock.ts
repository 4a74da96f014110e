interface Sample {
  readonly sentAt: number;
  readonly receivedAt: number;
  /** The server's clock in ms, read between the two. */
  readonly server: number;
}

/** How old a sample may be and still place a moment of the server's clock on ours. */
const TRUSTED_FOR = 2_000;

/**
 * What this process knows of the server's clock, from the replies that carry it. Errs on the safe
 * side only: never ahead of the server, and no moment placed later than it was.
 */
export class ServerClock {
  #sample: Sample | undefined;

  /** The server may be another one now. */
  forget(): void {
    this.#sample = undefined;
  }

  learn(sentAt: number, receivedAt: number, server: number): void {
    this.#sample = { sentAt, receivedAt, server };
  }

  get known(): boolean {
    return this.#sample !== undefined;
  }

  /** The server's clock at our moment `now`, or a little less. */
  serverTimeAt(now: number): number {
    if (!this.#sample) throw new Error('The clock of the server is not known yet.');
    return this.#sample.server + (now - this.#sample.receivedAt);
  }

  /** Our moment of the server's `server`, or a little before; undefined when no fresh sample says. */
  momentOf(server: number, now: number): number | undefined {
    if (!this.#sample || now - this.#sample.receivedAt > TRUSTED_FOR) return undefined;
    const moment = Math.min(now, this.#sample.sentAt + (server - this.#sample.server));
    return now - moment > TRUSTED_FOR ? undefined : moment;
  }
}
