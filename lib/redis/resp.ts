/** What follows a script in EVALSHA: how many keys, the keys, the arguments. */
export type Operand = string | number;

/** An operand as it goes over the wire (RESP's bulk string): its length in bytes, then itself. */
export function bulk(operand: Operand): string {
  const text = String(operand);
  const bytes = typeof operand === 'number' ? text.length : Buffer.byteLength(text);
  return `$${bytes}\r\n${text}\r\n`;
}

/** The keys of a script in its order, and as they go over the wire: worth keeping for a lock that is used again. */
export class KeyList {
  /** With their number before them. */
  readonly wire: string;
  /** Without it. */
  readonly names: string;

  constructor(readonly keys: readonly string[]) {
    this.names = keys.map(bulk).join('');
    this.wire = bulk(keys.length) + this.names;
  }
}

/** A reply in which strings are strings. */
export function decoded(reply: unknown): unknown {
  if (typeof reply === 'number') return reply;
  if (reply instanceof Buffer) return reply.toString();
  return Array.isArray(reply) ? reply.map(decoded) : reply;
}
