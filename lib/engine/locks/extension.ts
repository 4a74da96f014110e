import type { LuaScript, Operand, Operands } from '../redis/index.js';
import type { LockRequest } from './lock-request.js';
import { noReply } from './reply.js';

/** The operands by which several leases are extended: of each name all, one behind another; of the ttl, where it is the last, one if it is the same for all. */
export function extendArgs({ args }: LuaScript, requests: readonly LockRequest[]): Operand[] {
  const rows = requests.map((request): Operands => {
    const { holder, ttl, overlong, share } = request;
    return { holder, ttl, overlong, count: share?.count };
  });
  const shortens = rows.some(({ overlong }) => overlong !== undefined);
  const names = shortens ? args : args.filter((name) => name !== 'overlong');
  const list = names.flatMap((name) => rows.map((row) => row[name] ?? ''));
  const { ttl } = requests[0]!;
  const isOne = !shortens && requests.every((request) => request.ttl === ttl);
  if (isOne) list.length -= requests.length - 1;
  return list;
}

/** What an extension answered for each of the leases, in ms; negative for one that is lost. */
export function leftOf(reply: unknown, asked: readonly number[]): readonly number[] {
  if (reply === 1) return asked;
  if (!Array.isArray(reply) || reply.length !== asked.length) throw noReply();
  return reply as number[];
}
