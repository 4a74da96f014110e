import { LockStoreError } from '../errors/index.js';
import type { RedisConnection } from './redis-connection.js';
import { LACKS_RIGHT, unfit } from './store-failure.js';

/** The rights that a Redis user needs for locks by certain scripts. */
export interface Rights {
  /** The commands of the scripts, in lower case. */
  readonly commands: readonly string[];
  /** Two keys of no lock, one for each pattern of locks' keys. */
  readonly keys: readonly [lock: string, beside: string];
}

/** Operands with which each command does nothing: it finds nothing, or is refused after its right was checked. */
const WITHOUT_EFFECT: Readonly<Record<string, readonly string[]>> = {
  get: [],
  mget: [],
  set: ['', 'no option'],
  del: [],
  exists: [],
  type: [],
  pttl: [],
  pexpire: ['1'],
  zadd: ['no number', 'a'],
  zrem: ['a'],
  zrange: ['0', '0'],
  zrangebyscore: ['0', '0'],
  zrevrangebyscore: ['0', '0'],
  zremrangebyscore: ['0', '0'],
  zscore: ['a'],
  zcard: [],
  zcount: ['0', '0'],
  zrank: ['a'],
};
const TRIAL = `
local refused = {}
for _, call in ipairs(cjson.decode(ARGV[1])) do
  local answer = redis.pcall(unpack(call))
  if type(answer) == 'table' and answer.err then
    refused[#refused + 1] = call[1]
    refused[#refused + 1] = answer.err
  end
end
return refused`;

/** The rights to all commands of these scripts, on keys that begin with `prefix`. */
export function rightsFor(prefix: string, scripts: Iterable<{ readonly source: string }>): Rights {
  const name = `${prefix}{}:rights`; // no lock has empty braces in its name
  return {
    get commands() {
      return commandsOf(scripts); // a store in memory needs no check of rights
    },
    keys: [name, `{${name}}`],
  };
}

/** The commands that scripts call, in lower case. */
export function commandsOf(scripts: Iterable<{ readonly source: string }>): string[] {
  const calls = [...scripts].flatMap(({ source }) => [
    ...source.matchAll(/redis\.p?call\('([A-Z]+)'/g),
  ]);
  return [...new Set(calls.map(([, command]) => command!.toLowerCase()))];
}

/** @throws LockStoreError that names the missing rights. */
export async function checkRights(connection: RedisConnection, rights: Rights): Promise<void> {
  const missing = await missingRights(connection, rights);
  if (missing.length === 0) return;
  throw unfit(
    `the Redis user lacks the right${missing.length > 1 ? 's' : ''} ${missing.join(' ')} (NOPERM); see "Redis rights" in docs/operations.md`,
  );
}

/**
 * The rights that the user lacks, in ACL syntax; empty if the server runs no script that tells. Tries each command, and both
 * kinds of keys, without effect on anything.
 */
export async function missingRights(
  connection: RedisConnection,
  { commands, keys: [key, beside] }: Rights,
): Promise<string[]> {
  const calls = commands
    .filter((command) => command in WITHOUT_EFFECT)
    .map((command) => [command, key, ...WITHOUT_EFFECT[command]!]);
  if (commands.includes('pubsub')) calls.push(['pubsub', 'numsub']); // PUBSUB NUMSUB without a channel does nothing
  // With keys of two slots, Valkey 9.0 and 9.1 refuse every later script as well.
  if (commands.includes('renamenx')) calls.push(['renamenx', key, key]);
  calls.push(['get', beside]);
  const sent = connection.send('eval', [TRIAL, 0, JSON.stringify(calls)]);
  const answer = await sent.catch((error: unknown) => {
    if (!(error instanceof LockStoreError) || error.outcome !== 'refused') throw error;
  });
  const refused = Array.isArray(answer) ? answer.map(String) : [];
  const missing = new Set<string>();
  for (let at = 0; at + 1 < refused.length; at += 2) {
    const [command, why] = [refused[at]!, refused[at + 1]!];
    if (!LACKS_RIGHT.test(why)) continue;
    missing.add(/ run /.test(why) ? `+${command}` : '~<keyPrefix>* ~{<keyPrefix>*');
  }
  return [...missing];
}
