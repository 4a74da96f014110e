import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { kinds } from '../support/kinds.js';
import { type Topology, topologies } from '../support/topologies.js';
import { MIXES, Player, steps } from './steps-in-two-worlds.js';

let redis: Topology;
let memory: Topology;
beforeAll(async () => {
  redis = await topologies['one Redis']!();
  memory = await topologies['memory']!();
});
afterAll(async () => {
  await redis.stop();
  await memory.stop();
});

it.each(Object.entries(MIXES))('in memory as on Redis: %s', async (_name, shares) => {
  await fc.assert(
    fc.asyncProperty(steps, async (script) => {
      const [here, there] = [await memory.world(kinds['lock']!), await redis.world(kinds['lock']!)];
      try {
        const players = [
          await Player.start(here, shares),
          await Player.start(there, shares),
        ] as const;
        for (const [at, step] of script.entries()) {
          await here.elapse(1);
          const inMemory = await players[0].play(step);
          const onRedis = await players[1].play(step);
          expect({ at, step, ...(inMemory as object) }).toEqual({
            at,
            step,
            ...(onRedis as object),
          });
        }
        const heard = JSON.stringify(await players[0].heard());
        await there.until('the same is heard', async () => {
          return JSON.stringify(await players[1].heard()) === heard;
        });
      } finally {
        await Promise.all([here.close(), there.close()]);
      }
    }),
    { numRuns: 150 },
  );
});
