interface Command {
  readonly bytes: Buffer;
  /** In lower case. */
  readonly words: readonly string[];
}

/** Cuts what a client sends into whole commands (arrays of bulk strings, as every client writes them). */
export class CommandSplitter {
  #rest: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): Command[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const commands: Command[] = [];
    for (let command = this.#next(); command; command = this.#next()) commands.push(command);
    return commands;
  }

  #next(): Command | undefined {
    const words: string[] = [];
    let at = 0;
    const number = (): number | undefined => {
      const end = this.#rest.indexOf('\r\n', at);
      if (end < 0) return undefined;
      const value = Number(this.#rest.toString('latin1', at + 1, end));
      at = end + 2;
      return value;
    };
    const count = number();
    if (count === undefined) return undefined;
    while (words.length < count) {
      const length = number();
      if (length === undefined || this.#rest.length < at + length + 2) return undefined;
      words.push(this.#rest.toString('utf8', at, at + length).toLowerCase());
      at += length + 2;
    }
    const bytes = this.#rest.subarray(0, at);
    this.#rest = this.#rest.subarray(at);
    return { bytes, words };
  }
}
