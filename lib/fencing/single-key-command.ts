import { LockOptionsError } from '../errors/index.js';

/** Commands that write other keys than their first operand, or whose first operand is no key. */
const OTHER_KEYS = new Set(
  'MSET MSETNX RENAME RENAMENX COPY MIGRATE SMOVE LMOVE RPOPLPUSH LMPOP ZMPOP BITOP PFMERGE SORT SDIFFSTORE SINTERSTORE SUNIONSTORE ZDIFFSTORE ZINTERSTORE ZUNIONSTORE ZRANGESTORE GEOSEARCHSTORE GEORADIUS GEORADIUSBYMEMBER XGROUP XREADGROUP JSON.MSET TS.MADD FLUSHALL FLUSHDB PUBLISH SPUBLISH BLPOP BRPOP BLMOVE BRPOPLPUSH BLMPOP BZMPOP BZPOPMIN BZPOPMAX'.split(
    ' ',
  ),
);
/** Commands that take as many keys as one likes. */
const MANY_KEYS = new Set(['DEL', 'UNLINK']);

/**
 * Refuses what a guard of one key would only seem to guard.
 * @throws LockOptionsError if the command writes other keys than its first operand.
 */
export function checkSingleKey(command: string, operandsAfterKey: number): void {
  const name = command.toUpperCase();
  if (!OTHER_KEYS.has(name) && !(MANY_KEYS.has(name) && operandsAfterKey > 0)) return;
  throw new LockOptionsError(
    `${name} writes other keys than its first operand: put it into a script, eval(source, keys, args), where all are guarded.`,
  );
}
