import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { RedisProcess } from '../../tools/redis-server.js';
import { LockProcess } from '../support/lock-process.js';
import { Observer } from '../support/observer.js';

const KEYS = 20_000;
/** How many are held at a time. */
const AT_ONCE = 500;

let redis: RedisProcess;
let observer: Observer;
let client: LockProcess;
beforeEach(async () => {
  redis = await RedisProcess.start();
  observer = new Observer(redis.url);
  client = new LockProcess({ redis: redis.url });
  await client.locks.open();
});
afterEach(async () => {
  await client.close();
  observer.close();
  await redis.stop();
});

it('20,000 different keys that were locked once leave one key in Redis, the fence', async () => {
  let last = 0;
  for (let first = 0; first < KEYS; first += AT_ONCE) {
    const leases = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, at) => client.acquire(`order:${first + at}`)),
    );
    const tokens = leases.map(({ fencingToken }) => fencingToken);
    expect(Math.min(...tokens)).toBeGreaterThan(last);
    last = Math.max(...tokens);
    await Promise.all(leases.map((lease) => lease.release()));
  }
  expect(await observer.redis.keys('*')).toEqual(['lock:{}:fence']);
  expect(Number(await observer.redis.get('lock:{}:fence'))).toBeGreaterThanOrEqual(last);
});
