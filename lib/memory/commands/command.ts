import { type Keyspace, RefusedCommand } from '../keyspace.js';

/** The reply of a command, before its conversion to Lua; null is Redis' nil. */
export type Reply = number | string | null | { readonly ok: string } | Reply[];

/** The channels to which scripts publish. */
export interface Channels {
  /** Publishes a message. Returns the number of its subscribers. */
  publish(channel: string, text: string): number;
  /** The number of subscribers. */
  subscribers(channel: string): number;
}

/** A command of Redis, as far as our scripts use it. */
export type Command = (keys: Keyspace, operands: readonly string[], channels: Channels) => Reply;

export type Commands = Readonly<Record<string, Command>>;

export const OK: Reply = { ok: 'OK' };

/** @throws RefusedCommand for a text that is no whole number, as Redis does. */
export function wholeNumber(text: string | undefined): number {
  if (text !== undefined && /^-?\d+$/.test(text)) return Number(text);
  throw new RefusedCommand('ERR value is not an integer or out of range');
}

/** @throws RefusedCommand for a text that is no life of a value in ms, as SET does. */
export function lifeOf(text: string | undefined): number {
  const life = wholeNumber(text);
  if (life > 0) return life;
  throw new RefusedCommand("ERR invalid expire time in 'set' command");
}

/** The error of Redis for operands that it cannot read. */
export function syntaxError(): RefusedCommand {
  return new RefusedCommand('ERR syntax error');
}
