/** The events of a lock board, as a page gets them. */
export class BoardEvents {
  #text = '';
  readonly #abort: AbortController;
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #decoder = new TextDecoder();

  private constructor(
    readonly response: Response,
    abort: AbortController,
  ) {
    this.#abort = abort;
    this.#chunks = response.body![Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  }

  static async open(board: string, headers: Record<string, string> = {}): Promise<BoardEvents> {
    const abort = new AbortController();
    const response = await fetch(`${board}/events`, { headers, signal: abort.signal });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    return new BoardEvents(response, abort);
  }

  /** What the next event of a name says; undefined where the events have ended before. */
  async next(name: string): Promise<any> {
    for (;;) {
      const end = this.#text.indexOf('\n\n');
      if (end >= 0) {
        const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(this.#text.slice(0, end))!;
        this.#text = this.#text.slice(end + 2);
        if (event === name) return JSON.parse(data!);
        continue;
      }
      const { done, value } = await this.#chunks.next();
      if (done) return undefined;
      this.#text += this.#decoder.decode(value, { stream: true });
    }
  }

  /** The first list that fulfils `fits`. */
  async list(fits: (rows: any[]) => boolean): Promise<{ rows: any[]; cut: boolean }> {
    for (;;) {
      const list = await this.next('locks');
      if (list === undefined || fits(list.rows)) return list;
    }
  }

  close(): void {
    this.#abort.abort();
  }
}
