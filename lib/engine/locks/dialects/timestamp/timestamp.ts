import type { LockFormat } from '../../../options/index.js';
import type { Dialect, DialectReply, Send } from '../dialect.js';
import { named } from '../../../redis/index.js';
import acquire from './acquire.lua.js';
import extend from './extend.lua.js';
import force from './force.lua.js';
import get from './get.lua.js';
import getset from './getset.lua.js';
import inspect from './inspect.lua.js';
import release from './release.lua.js';
import setnx from './setnx.lua.js';

/** The steps of a timestamp lock: those of the articles one by one, and as one script. */
export const scripts = named('timestamp', {
  acquire,
  setnx,
  get,
  getset,
  inspect,
  force,
  release,
  extend,
});

/**
 * The lock of the SETNX articles. Its value is the moment at which the lease ends, by the clocks of its clients; ours is by the
 * server's. A lock with a past time is taken over; only a missing key is unlocked. The lock does not name its holder: a key
 * beside it does, for us alone.
 *
 * A client that loses a take-over overwrites the winner's time. Our time is rewritten 100 ms after a grant. For a second after
 * each of our writes, another future time counts as a loser's, not as a third client's. So a client should take less than 100
 * ms from GET to GETSET, and write a time that is at least a second away.
 *
 * The limits of the articles remain: if clocks differ by more than a second, a lock ends too early for one client. A time that
 * became earlier, or was written after that second, costs us the lease at its next renewal.
 */
export function timestamp({ unit, lasting }: LockFormat): Dialect {
  const operands = { unit, lasting: lasting ? 1 : 0 };
  const dialect = { type: 'string' as const, ...scripts, operands: () => operands };
  return lasting ? { ...dialect, take: stepByStep } : dialect;
}

/** Takes the lock as the articles' clients do, each step as a command of its own. */
async function stepByStep(send: Send): Promise<DialectReply> {
  const first = await send(scripts.setnx);
  if (first[0] !== 'busy') return first;
  const seen = await send(scripts.get);
  return seen[0] === 'past' ? send(scripts.getset, { seen: seen[4] as string }) : seen;
}
