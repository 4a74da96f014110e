import type { Clock } from '../options/index.js';
import { deadline } from './deadline.js';
import { LuaScript, named } from './lua-script.js';
import { KeyList } from './resp.js';
import type { RedisConnection } from './redis-connection.js';
import { Redirection, saysOf, storeFailure } from './store-failure.js';

/** One Redis, as a health check found it. */
export interface ServerHealth {
  /** Host, port and database, the path of a socket, or the name that Sentinels know and the primary behind it. No user, no password. */
  readonly address: string;
  /** `up`: it took a step that writes, as a lock does, within the time of the check. */
  readonly status: 'up' | 'down';
  /** Why it is down, in one sentence. Undefined while it is up. */
  readonly problem: string | undefined;
  /** How long this check waited for its answer, in ms. Undefined without an answer. */
  readonly roundTrip: number | undefined;
  /** How long ago it last answered a command of this process, in ms. Undefined before the first answer. */
  readonly lastAnswer: number | undefined;
  /** How far its clock is ahead of this process's, in ms; below 0, behind. Wrong by half of `roundTrip` and 1 ms at most. Undefined without an answer. */
  readonly clockOffset: number | undefined;
}

/** Writes nothing, as there is nothing at the key. It is refused where a grant would be: by a replica, or for want of memory. */
const { health } = named('store', {
  health: new LuaScript(
    `local key = KEYS[1]
redis.call('SET', key, '', 'XX', 'PX', 1)
return redis.call('TIME')`,
  ),
});

/** A key of no lock, as none has empty braces; with a `tag`, in its slot. */
export function healthKey(prefix: string, tag?: string): string {
  return tag === undefined ? `${prefix}{}:health` : `${prefix}{${tag}}{}:health`;
}

/** One that is not connected. */
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
 * Takes a step that changes nothing, at `key`, and says within so many ms what came of it. `acks`: so many replicas have
 * to be there. Never rejects.
 */
export async function askHealth(
  connection: RedisConnection,
  address: string,
  key: string,
  within: number,
  acks?: number,
): Promise<ServerHealth> {
  const { clock } = connection;
  const sentAt = clock.monotonic(); // first: a pause between the two clocks counts as a part of the round trip
  const wall = clock.wall();
  let roundTrip: number | undefined;
  let clockOffset: number | undefined;
  const asked = connection.run({
    script: health,
    keys: new KeyList([key]),
    args: [],
    sentAt,
    read: (reply, receivedAt) => {
      const [seconds, micros] = reply as [string, string];
      roundTrip = receivedAt - sentAt;
      const server = Number(seconds) * 1_000 + Number(micros) / 1_000;
      clockOffset = rounded(server - wall - roundTrip / 2);
    },
  });
  const answers = [asked];
  if (acks !== undefined) answers.push(replicasAre(connection, acks, within));
  const problem = await problemOf(Promise.all(answers), within, clock);
  return {
    address,
    status: problem === undefined ? 'up' : 'down',
    problem: problem && `Redis at ${address} ${problem}.`,
    roundTrip: rounded(roundTrip),
    lastAnswer: sinceAnswer(connection),
    clockOffset,
  };
}

/** Rejects where too few replicas say in half the time that they have what this connection wrote. */
async function replicasAre(
  connection: RedisConnection,
  acks: number,
  within: number,
): Promise<void> {
  const reached = Number(await connection.send('wait', [acks, Math.ceil(within / 2)]));
  if (reached < acks) throw new TooFew(`${reached} of ${acks} replicas (option "replicas") answer`);
}

class TooFew extends Error {}

/** Why no answer is a good one, as a sentence goes on behind the server's name. A node whose slots moved is well. */
function problemOf(
  answers: Promise<unknown>,
  within: number,
  clock: Clock,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const cancel = deadline(clock, within, () => resolve(`did not answer within ${within} ms`));
    answers
      .then(
        () => resolve(undefined),
        (error: unknown) => {
          if (error instanceof Redirection) resolve(undefined);
          else if (error instanceof TooFew) resolve(`cannot keep locks: ${error.message}`);
          else resolve(`cannot keep locks: ${saysOf(storeFailure(error, undefined))}`);
        },
      )
      .finally(cancel);
  });
}

function sinceAnswer({ lastAnswerAt, clock }: RedisConnection): number | undefined {
  return lastAnswerAt === undefined ? undefined : rounded(clock.monotonic() - lastAnswerAt);
}

/** To a tenth of a ms. */
function rounded<Ms extends number | undefined>(ms: Ms): Ms {
  return (ms === undefined ? ms : Math.round(ms * 10) / 10) as Ms;
}
