import { Redis } from 'ioredis';
import { setTimeout as pause } from 'node:timers/promises';
import { memoryInUse } from '../measure/server-load.js';
import { monotonic } from '../measure/monotonic.js';
import type { MemoryWorkload } from '../workloads/workload.js';
import type { Kind, Part } from './kind.js';

/** How many keys are locked at a time. */
const AT_ONCE = 256;
/** How long after the last lock the server is weighed: its buffers for clients have shrunk, in ms. */
const SETTLED = 2_500;

interface Left extends Part {
  readonly keys: number;
  /** Bytes. */
  readonly before: number;
  readonly after: number;
  readonly names: number;
  /** In ms. */
  readonly lasted: number;
}

/** What the server has more after many keys were locked once. */
export const memory: Kind<MemoryWorkload, Left> = {
  long: true,

  timing: () => ({ warmUp: 0, window: 0 }),

  refuses: () => undefined,

  async play(client, { workload: { keys }, url }) {
    const redis = new Redis(url);
    const before = await memoryInUse(redis);
    const started = monotonic();
    let next = 0;
    const call = async (): Promise<void> => {
      while (next < keys) {
        const release = await client.acquire(`bench:once:${(next += 1)}`);
        await release!();
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, call));
    const lasted = monotonic() - started;
    await pause(SETTLED);
    const after = await memoryInUse(redis);
    const names = await redis.dbsize();
    await redis.quit();
    return { keys, before, after, names, lasted, unfinished: 0 };
  },

  figures(_, [part]) {
    const { keys, before, after, names, lasted } = part!;
    return {
      keys,
      grown: (after - before) / 1e6,
      bytesPerKey: (after - before) / keys,
      names,
      seconds: lasted / 1_000,
    };
  },

  measures: () => [
    { figure: 'grown', title: 'MB more', better: 'less' },
    { figure: 'bytesPerKey', title: 'bytes a key' },
    { figure: 'names', title: 'names left' },
    { figure: 'keys', title: 'keys locked' },
    { figure: 'seconds', title: 's' },
  ],
};
