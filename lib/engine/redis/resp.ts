/** An operand behind the script in EVALSHA: the number of keys, a key, or an argument. */
export type Operand = string | number;

/** The operands of a script, by the names that the script gives them. */
export type Operands = Readonly<Record<string, Operand | undefined>>;

/** Encodes an operand for the wire, as a RESP bulk string: its length in bytes, then its text. */
export function bulk(operand: Operand): string {
  const text = String(operand);
  const bytes = typeof operand === 'number' ? text.length : Buffer.byteLength(text);
  return `$${bytes}\r\n${text}\r\n`;
}

/** The keys of a script in its order, encoded at most once: worth keeping for a lock that is used again. */
export class KeyList {
  #names: string | undefined;

  constructor(readonly keys: readonly string[]) {}

  /** All keys, encoded. */
  get names(): string {
    return (this.#names ??= this.keys.map(bulk).join(''));
  }
}

/** Keys and operands that several runs have in common, encoded once. */
export class CommonOperands extends KeyList {
  readonly operands: string;

  constructor(
    keys: readonly string[],
    readonly args: readonly Operand[],
  ) {
    super(keys);
    this.operands = args.map(bulk).join('');
  }
}

/** The reply with strings for Buffers. */
export function decoded(reply: unknown): unknown {
  if (typeof reply === 'number') return reply;
  if (reply instanceof Buffer) return reply.toString();
  return Array.isArray(reply) ? reply.map(decoded) : reply;
}
