import { type Keyspace, RefusedCommand } from '../keyspace.js';

/** What a command answers, before it is a value of Lua; null is Redis' nil. */
export type Reply = number | string | null | { readonly ok: string } | Reply[];

/** Where messages go. */
export interface Channels {
  /** To how many it was told. */
  publish(channel: string, text: string): number;
  /** How many are subscribed. */
  subscribers(channel: string): number;
}

/** A command of Redis, of which our scripts use no more than it does here. */
export type Command = (keys: Keyspace, operands: readonly string[], channels: Channels) => Reply;

export type Commands = Readonly<Record<string, Command>>;

export const OK: Reply = { ok: 'OK' };

/** @throws RefusedCommand as Redis for what is no whole number. */
export function wholeNumber(text: string | undefined): number {
  if (text !== undefined && /^-?\d+$/.test(text)) return Number(text);
  throw new RefusedCommand('ERR value is not an integer or out of range');
}

/** @throws RefusedCommand as Redis for what it cannot read. */
export function syntaxError(): RefusedCommand {
  return new RefusedCommand('ERR syntax error');
}
