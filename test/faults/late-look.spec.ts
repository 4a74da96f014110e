import { afterEach, expect, it } from '@jest/globals';
import { NATIVE } from '../../lib/engine/options/index.js';
import { Redis } from 'ioredis';
import { RedisProcess } from '../../tools/redis-server.js';
import { closeAll, closing } from '../support/closing.js';
import { LockProcess } from '../support/lock-process.js';
import { Quorum } from '../support/quorum.js';

/** Its commands are answered `ms` later; those of replicas and operators too. */
async function slowDown({ url }: RedisProcess, ms: number): Promise<void> {
  const operator = new Redis(url);
  await operator.client('PAUSE', ms, 'ALL');
  operator.disconnect();
}

/** Nothing of this process runs for `ms`, as in a garbage collection; what was said in this turn has been sent. */
async function standStill(ms: number): Promise<void> {
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

afterEach(closeAll);

it('an answer that came while the process stood still is in time', async () => {
  const redis = await RedisProcess.start();
  closing.push(() => redis.stop());
  const client = new LockProcess({ redis: redis.url, commandTimeout: 1_000 });
  closing.push(() => client.close());
  await (await client.acquire('k')).release(); // the server knows the scripts now
  await slowDown(redis, 50);
  const acquired = client.acquire('k');
  await standStill(2_000);
  expect(await (await acquired).release()).toBe(true);
});

it('votes that came while the process stood still count', async () => {
  const quorum = await Quorum.of(3);
  closing.push(() => quorum.stop());
  const process = await quorum.process();
  await (await process.acquire()).release(); // the servers know the scripts now
  await Promise.all(quorum.servers.map((server) => slowDown(server, 50)));
  const request = { key: 'k', holder: 'a/1', ttl: 3_000, tokenBlock: 1, format: NATIVE };
  const vote = process.store.acquire({ ...request, queue: false, wanted: () => true });
  await standStill(1_000);
  expect(await vote).toMatchObject({ kind: 'held' });
});
