import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { LockNotAcquiredError } from '../../lib/engine/errors/index.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { BY_POLL } from '../support/bounds.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { LockProcess } from '../support/lock-process.js';
import { Observer } from '../support/observer.js';
import { until } from '../support/until.js';

const ROUNDS = process.env['FULL'] ? 1_000 : 100;
/** How many callers are aborted in one round of time. */
const AT_ONCE = 10;

let redis: RedisProcess;
let observer: Observer;
let proxy: FaultProxy;
beforeAll(async () => {
  redis = await RedisProcess.start();
  observer = new Observer(redis.url);
  proxy = await FaultProxy.before(redis.port);
});
afterAll(async () => {
  observer.close();
  await proxy.close();
  await redis.stop();
});

it(`${ROUNDS} callers who abort at random instants are rejected at once and leave nothing`, async () => {
  const clients = [1, 2].map(() => new LockProcess({ redis: proxy.url, commandTimeout: 10_000 }));
  const steady = new LockProcess({ redis: redis.url });
  await Promise.all([...clients, steady].map((client) => client.locks.open()));
  const counts = { aborted: 0, held: 0, busy: 0 };
  let running = true;
  let turns = 0;
  let longest = 0;
  const working = (async () => {
    while (running) {
      const asked = performance.now();
      const lease = await steady.acquire('k');
      longest = Math.max(longest, performance.now() - asked);
      turns += 1;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 2));
      expect(await lease.release()).toBe(true);
    }
  })();
  for (let round = 0; round < ROUNDS; round += AT_ONCE) {
    proxy.up = { delay: Math.random() * 4 };
    proxy.down = { delay: Math.random() * 4 };
    const ends = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, at) =>
        abortOnce(clients[at % 2]!, at % 5 === 0 ? 0 : 10_000),
      ),
    );
    for (const end of ends) counts[end] += 1;
  }
  running = false;
  await working;
  expect(counts.aborted).toBeGreaterThan(ROUNDS / 4);
  expect(turns).toBeGreaterThan(1);
  expect(longest).toBeLessThan(BY_POLL); // nobody who is gone keeps the lock from the next caller
  await until('all clients are idle', () => clients.every((client) => client.idle));
  expect(await observer.traces()).toEqual([]);
  await Promise.all([...clients, steady].map((client) => client.close()));
  console.info(
    `${JSON.stringify(counts)}, ${turns} turns of a caller who never aborts, ${longest.toFixed()} ms the longest wait`,
  );
});

it('a signal that aborted earlier sends nothing', async () => {
  const client = new LockProcess({ redis: redis.url });
  const signal = AbortSignal.abort(new Error('too late'));
  await expect(client.acquire('k', { signal })).rejects.toThrow('too late');
  expect(await observer.traces()).toEqual([]);
  await client.close();
});

it('an abort during the first connection is heard at once', async () => {
  await proxy.refuse();
  const client = new LockProcess({ redis: proxy.url });
  const controller = new AbortController();
  let reason: unknown;
  client.acquire('k', { signal: controller.signal }).catch((error: unknown) => (reason = error));
  await new Promise((resolve) => setTimeout(resolve, 20));
  controller.abort('enough');
  await new Promise(setImmediate);
  expect(reason).toBe('enough');
  await proxy.listen();
  await client.close();
});

/** Aborts at an instant of its own choosing; tells how the call ended, and whether that was at once. */
async function abortOnce(client: LockProcess, wait: number): Promise<'aborted' | 'held' | 'busy'> {
  const controller = new AbortController();
  let ended: 'aborted' | 'held' | 'busy' | undefined;
  const call = client.acquire('k', { signal: controller.signal, wait }).then(
    async (lease) => {
      ended = 'held';
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 3));
      await lease.release();
    },
    (error: unknown) => {
      if (error === 'gone') ended = 'aborted';
      else if (error instanceof LockNotAcquiredError) ended = 'busy';
      else throw error;
    },
  );
  // Every stretch of a call's life is hit: before it is sent, on its way there and back, queued, granted.
  const instant = Math.random() * [0, 2, 8, 25][Math.floor(Math.random() * 4)]!;
  if (instant > 0) await new Promise((resolve) => setTimeout(resolve, instant));
  controller.abort('gone');
  await new Promise(setImmediate);
  expect(ended).toBeDefined();
  await call;
  return ended!;
}
