/** What ioredis writes to; not documented, so nothing is taken for granted. */
interface Corkable {
  cork(): void;
  uncork(): void;
}

/**
 * Makes the commands of one turn of the event loop leave in one write: the first at once, the rest
 * together when the turn ends. A connection whose stream is not as expected writes each by itself.
 */
export class WriteBatch {
  #turn = false;
  #corked: Corkable | undefined;

  constructor(private readonly client: object) {}

  /** Say so before each command. */
  next(): void {
    if (!this.#turn) {
      this.#turn = true;
      setImmediate(this.#end);
    } else if (!this.#corked) {
      const stream = (this.client as { stream?: unknown }).stream;
      if (!isCorkable(stream)) return;
      stream.cork();
      this.#corked = stream;
    }
  }

  readonly #end = (): void => {
    this.#turn = false;
    this.#corked?.uncork();
    this.#corked = undefined;
  };
}

function isCorkable(stream: unknown): stream is Corkable {
  return (
    typeof stream === 'object' &&
    stream !== null &&
    'cork' in stream &&
    typeof stream.cork === 'function' &&
    'uncork' in stream &&
    typeof stream.uncork === 'function'
  );
}
