import type { LuaScript, Operand } from '../redis/index.js';
import type { LockRequest } from './lock-request.js';

type Operands = Readonly<Record<string, string | number | undefined>>;

/** The operands by which several leases are extended: of each name all, one behind another; of the last, the ttl, one if it is the same for all. */
export function extendArgs({ args }: LuaScript, requests: readonly LockRequest[]): Operand[] {
  const rows = requests.map((request): Operands => {
    const { holder, ttl, share } = request;
    return { holder, ttl, count: share?.count };
  });
  const list = args.flatMap((name) => rows.map((row) => row[name] ?? ''));
  const { ttl } = requests[0]!;
  if (requests.every((request) => request.ttl === ttl)) list.length -= requests.length - 1;
  return list;
}

/** What an extension answered for each of the leases, in ms; negative for one that is lost. */
export function leftOf(reply: unknown, asked: readonly number[]): readonly number[] {
  return reply === 1 ? asked : (reply as number[]);
}
