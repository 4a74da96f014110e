import type { Redis } from 'ioredis';
import type { RedisProcess } from '../../tools/redis-server.js';

/** How a server forgets everything; `control` is a connection to it. */
export const losses: Record<string, (server: RedisProcess, control: Redis) => Promise<unknown>> = {
  FLUSHALL: (_, control) => control.flushall(),
  'DEL of every key': async (_, control) => control.del(await control.keys('*')),
  'SWAPDB with an empty database': (_, control) => control.swapdb(0, 1),
  'a restart without persistence': async (server) => {
    await server.kill();
    await server.run();
  },
};
