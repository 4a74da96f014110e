import { type Clock, momentOf } from '../engine/options/index.js';
import type { ServerHealth } from '../engine/redis/index.js';
import type { MemoryConnection } from './memory-connection.js';

const ADDRESS = 'memory';

/** Reports the server in memory as a health check reports a Redis, in at most `within` ms of `clock`. */
export function memoryHealth(
  connection: MemoryConnection,
  within: number,
  clock: Clock,
): Promise<ServerHealth> {
  return new Promise((resolve) => {
    const down = (problem: string): void => {
      cancel();
      const unknown = { roundTrip: undefined, lastAnswer: undefined, clockOffset: undefined };
      resolve({ address: ADDRESS, status: 'down', problem, ...unknown });
    };
    const cancel = clock.after(within, () =>
      down(`The memory did not answer within ${within} ms.`),
    );
    const answered = (sent: { wall: number; monotonic: number }): void => {
      cancel();
      const roundTrip = clock.monotonic() - sent.monotonic;
      const clockOffset = connection.server.clock.wall() - clock.wall();
      const known = { roundTrip, lastAnswer: 0, clockOffset };
      resolve({ address: ADDRESS, status: 'up', problem: undefined, ...known });
    };
    connection
      .send(undefined, () => momentOf(clock))
      .then(answered, () => down('The memory is not open.'));
  });
}
