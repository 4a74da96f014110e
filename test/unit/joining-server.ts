/** A server of a quorum that opens, or fails to, when a test says so. */
export class JoiningServer {
  opens = 0;
  closes = 0;
  succeed!: () => void;
  fail!: (error: Error) => void;

  constructor(
    readonly runId: string | undefined,
    private readonly name: string,
  ) {}

  open(): Promise<void> {
    this.opens += 1;
    return new Promise((succeed, fail) => Object.assign(this, { succeed, fail }));
  }

  async close(): Promise<void> {
    this.closes += 1;
  }

  describe(): { found: string } {
    return { found: `Redis at ${this.name}` };
  }
}
