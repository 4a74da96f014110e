import { isReader } from '../options/index.js';
import type { LuaScript, Operand, Operands } from '../redis/index.js';
import type { LockRequest } from './lock-request.js';
import { noReply } from './reply.js';

/**
 * The operands that extend several leases, in columns: all values of one name, then all of the next. An equal ttl is sent once,
 * if it is the last column.
 */
export function extendArgs({ args }: LuaScript, requests: readonly LockRequest[]): Operand[] {
  const rows = requests.map((request): Operands => {
    const { holder, ttl, overlong, share } = request;
    return { holder, ttl, overlong, count: isReader(share) ? '' : share?.count };
  });
  const shortens = rows.some(({ overlong }) => overlong !== undefined);
  const names = shortens ? args : args.filter((name) => name !== 'overlong');
  const list = names.flatMap((name) => rows.map((row) => row[name] ?? ''));
  const { ttl } = requests[0]!;
  const isOne = !shortens && requests.every((request) => request.ttl === ttl);
  if (isOne) list.length -= requests.length - 1;
  return list;
}

/** Reads the ms left of each lease from an extension's reply; negative for a lost one. */
export function leftOf(reply: unknown, asked: readonly number[]): readonly number[] {
  if (reply === 1) return asked;
  if (!Array.isArray(reply) || reply.length !== asked.length) throw noReply();
  return reply as number[];
}
