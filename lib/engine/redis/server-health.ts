import type { ReplicaSettings } from '../options/index.js';
import { inTime } from './deadline.js';
import { LuaScript, named } from './lua-script.js';
import { KeyList } from './resp.js';
import type { RedisConnection } from './redis-connection.js';
import { timeIn } from './server-clock.js';
import { Redirection, saysOf, storeFailure, unfit } from './store-failure.js';

/** One Redis, as a health check found it. */
export interface ServerHealth {
  /** Host, port and database, the path of a socket, or the name that Sentinels know and the primary behind it. No user, no password. */
  readonly address: string;
  /** `up`: the server took a step that writes, as a lock does, within the time of the check. */
  readonly status: 'up' | 'down';
  /** Why the server is down, in one sentence. Undefined while it is up. */
  readonly problem: string | undefined;
  /** How long this check waited for its answer, in ms. Undefined without an answer. */
  readonly roundTrip: number | undefined;
  /** How long ago the server last answered a command of this process, in ms. Undefined before the first answer. */
  readonly lastAnswer: number | undefined;
  /**
   * How far the server's clock is ahead of this process's, in ms; below 0, behind. The error is half of `roundTrip` and 1
   * ms at most. Undefined without an answer.
   */
  readonly clockOffset: number | undefined;
}

/** A step that writes nothing, as the key does not exist. It is refused where a grant would be, as by a replica. */
const { health } = named('store', {
  health: new LuaScript(
    `local key = KEYS[1]
redis.call('SET', key, '', 'XX', 'PX', 1)
return redis.call('TIME')`,
  ),
});

/** A key of no lock, since no lock has empty braces; with a `tag`, in the slot of that tag. */
export function healthKey(prefix: string, tag?: string): string {
  return tag === undefined ? `${prefix}{}:health` : `${prefix}{${tag}}{}:health`;
}

/** The health of a server that is not connected. */
export function notConnected(
  address: string,
  problem = `Redis at ${address} is not connected`,
  connection?: RedisConnection,
): ServerHealth {
  const lastAnswer = connection && sinceAnswer(connection);
  const unknown = { roundTrip: undefined, clockOffset: undefined };
  return { address, status: 'down', problem: `${problem}.`, lastAnswer, ...unknown };
}

/**
 * Performs a write without effect at `key`, and reports its outcome within `within` ms. With `replicas`, enough of them have
 * to answer, too. Never rejects.
 */
export async function askHealth(
  connection: RedisConnection,
  address: string,
  key: string,
  within: number,
  replicas?: ReplicaSettings,
): Promise<ServerHealth> {
  const { clock } = connection;
  const sentAt = clock.monotonic(); // this clock is read first, so that a pause between the two counts as part of the round trip
  const wall = clock.wall();
  let roundTrip: number | undefined;
  let clockOffset: number | undefined;
  const asked = connection.run({
    script: health,
    keys: new KeyList([key]),
    args: [],
    sentAt,
    read: (reply, receivedAt) => {
      roundTrip = receivedAt - sentAt;
      clockOffset = rounded(timeIn(reply) - wall - roundTrip / 2);
    },
  });
  const answers = [asked];
  if (replicas) answers.push(replicasAre(connection, replicas, within));
  const outcome = Promise.all(answers).then(() => undefined, problemOf);
  const problem = await inTime(clock, within, outcome, () => `did not answer within ${within} ms`);
  return {
    address,
    status: problem === undefined ? 'up' : 'down',
    problem: problem && `Redis at ${address} ${problem}.`,
    roundTrip: rounded(roundTrip),
    lastAnswer: sinceAnswer(connection),
    clockOffset,
  };
}

/**
 * Rejects if too few replicas confirm the writes of this connection within half the time. The commands behind this one wait
 * no longer than behind one that locks send.
 */
async function replicasAre(
  connection: RedisConnection,
  { acks, timeout }: ReplicaSettings,
  within: number,
): Promise<void> {
  const longest = Math.min(timeout, Math.ceil(within / 2));
  const reached = Number(await connection.send('wait', [acks, longest]));
  if (reached < acks) throw unfit(`${reached} of ${acks} replicas (option "replicas") answer`);
}

/** The problem, as a sentence goes on behind the server's name; undefined if all is well, as at a node whose slots moved. */
function problemOf(error: unknown): string | undefined {
  if (error instanceof Redirection) return undefined;
  return `cannot keep locks: ${saysOf(storeFailure(error, undefined))}`;
}

function sinceAnswer({ lastAnswerAt, clock }: RedisConnection): number | undefined {
  return lastAnswerAt === -Infinity ? undefined : rounded(clock.monotonic() - lastAnswerAt);
}

/** Rounds to a tenth of a ms. */
function rounded<Ms extends number | undefined>(ms: Ms): Ms {
  return (ms === undefined ? ms : Math.round(ms * 10) / 10) as Ms;
}
