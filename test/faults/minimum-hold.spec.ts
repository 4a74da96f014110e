import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { RedisProcess } from '../../tools/redis-server.js';
import { LockProcess } from '../support/lock-process.js';
import { monotonic } from '../support/monotonic.js';
import { Observer } from '../support/observer.js';

const TURNS = process.env['FULL'] ? 50 : 5;
const MIN_HOLD = 250;

let redis: RedisProcess;
let observer: Observer;
let clients: LockProcess[];
beforeAll(async () => {
  redis = await RedisProcess.start();
  observer = new Observer(redis.url);
  clients = [1, 2, 3].map(() => new LockProcess({ redis: redis.url }));
});
afterAll(async () => {
  for (const client of clients) await client.close();
  observer.close();
  await redis.stop();
});

it('who waits first for the rest of a minimum hold has the lock when it is over, not a round later', async () => {
  const [holder, first, second] = clients;
  const late: number[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    const key = `held for a while ${turn}`; // with spaces, as they stand in a push
    const asked = monotonic();
    const lease = await holder!.acquire(key, { minHold: MIN_HOLD });
    const granted = monotonic();
    const next = first!.acquire(key, { wait: 10_000 });
    await observer.queued(key, 1);
    const last = second!.acquire(key, { wait: 10_000 });
    await observer.queued(key, 2);
    await lease.release();
    const followed = await next;
    const came = monotonic();
    expect(came - asked).toBeGreaterThan(MIN_HOLD - 25); // the server granted it between `asked` and `granted`
    late.push(came - granted - MIN_HOLD);
    await followed.release();
    await (await last).release();
  }
  late.sort((a, b) => a - b);
  expect(late[Math.floor(TURNS / 2)]).toBeLessThan(450); // without the push: a poll, 700 ms and more
});
