/** What follows a script in EVALSHA: how many keys, the keys, the arguments. */
export type Operand = string | number;

/** What a script wants to know, by the names that it gives it. */
export type Operands = Readonly<Record<string, Operand | undefined>>;

/** An operand as it goes over the wire (RESP's bulk string): its length in bytes, then itself. */
export function bulk(operand: Operand): string {
  const text = String(operand);
  const bytes = typeof operand === 'number' ? text.length : Buffer.byteLength(text);
  return `$${bytes}\r\n${text}\r\n`;
}

/** The keys of a run, and how they go over the wire. */
export interface Keys {
  readonly keys: readonly string[];
  /** All of them, encoded. */
  readonly names: string;
  /** One of them, encoded. */
  encoded(at: number): string;
}

/** The keys of a script in its order, encoded once: worth keeping for a lock that is used again. */
export class KeyList implements Keys {
  readonly names: string;

  constructor(readonly keys: readonly string[]) {
    this.names = keys.map(bulk).join('');
  }

  encoded(at: number): string {
    return bulk(this.keys[at]!);
  }
}

/** Keys and operands that several runs have in common, encoded once. */
export class CommonOperands {
  readonly names: string;
  readonly operands: string;

  constructor(
    readonly keys: readonly string[],
    readonly args: readonly Operand[],
  ) {
    this.names = keys.map(bulk).join('');
    this.operands = args.map(bulk).join('');
  }
}

/** A reply in which strings are strings. */
export function decoded(reply: unknown): unknown {
  if (typeof reply === 'number') return reply;
  if (reply instanceof Buffer) return reply.toString();
  return Array.isArray(reply) ? reply.map(decoded) : reply;
}
