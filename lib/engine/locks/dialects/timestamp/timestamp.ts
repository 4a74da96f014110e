import type { DialectSettings } from '../../../options/index.js';
import type { Dialect, DialectReply, Send } from '../dialect.js';
import { LuaScript, named } from '../../../redis/index.js';
import acquire from './acquire.lua.js';
import extend from './extend.lua.js';
import force from './force.lua.js';
import get from './get.lua.js';
import getset from './getset.lua.js';
import inspect from './inspect.lua.js';
import release from './release.lua.js';
import setnx from './setnx.lua.js';

/** The steps of a timestamp lock; those of the articles one by one, and as one. */
export const scripts = named('timestamp', {
  acquire: new LuaScript(acquire),
  setnx: new LuaScript(setnx),
  get: new LuaScript(get),
  getset: new LuaScript(getset),
  inspect: new LuaScript(inspect),
  force: new LuaScript(force),
  release: new LuaScript(release),
  extend: new LuaScript(extend),
});

/**
 * The lock of the SETNX articles: its value is the moment at which it ends, by the clocks of its clients; ours is the
 * server's. A lock that is past is taken over, unlocked is only what is not. The lock does not say whose it is:
 * that stands in a key beside it, for us alone.
 *
 * A client that loses a take-over writes over the winner's time. Ours is written once more 100 ms after a grant,
 * and for a second after each of our writes another time to come counts as a loser's, not as a third client's. So a
 * client should take less than 100 ms from GET to GETSET, and write a time that is a second away at least.
 *
 * What the articles cannot promise, it cannot: where clocks differ by more than a second, a lock ends too early for
 * one of them. A time that became earlier, or was written later than that second, costs us the lease at its next renewal.
 */
export function timestamp({ unit, lasting }: DialectSettings): Dialect {
  const operands = { unit, lasting: lasting ? 1 : 0 };
  const dialect = { type: 'string' as const, ...scripts, operands: () => operands };
  return lasting ? { ...dialect, take: stepByStep } : dialect;
}

/** As the articles' clients do, each step a command of its own. */
async function stepByStep(send: Send): Promise<DialectReply> {
  const first = await send(scripts.setnx);
  if (first[0] !== 'busy') return first;
  const seen = await send(scripts.get);
  return seen[0] === 'past' ? send(scripts.getset, { seen: seen[4] as string }) : seen;
}
