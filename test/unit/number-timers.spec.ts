import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { memoryLockService } from '../../lib/memory/testing/index.js';
import { EventLoopWatch } from '../../lib/engine/inspection/event-loop-watch.js';

const { setTimeout: timeout, setInterval: interval } = globalThis;

// As in the environment "jsdom" of Jest.
beforeAll(() => {
  globalThis.setTimeout = ((...args: Parameters<typeof timeout>) =>
    Number(timeout(...args))) as never;
  globalThis.setInterval = ((...args: Parameters<typeof interval>) =>
    Number(interval(...args))) as never;
});
afterAll(() => void Object.assign(globalThis, { setTimeout: timeout, setInterval: interval }));

it('where timers are numbers, a lock is taken, waited for and given back', async () => {
  const locks = memoryLockService();
  const lease = await locks.acquire('k');
  const second = locks.acquire('k');
  expect(await locks.tryAcquire('k')).toBeNull();
  await lease.release();
  expect(await (await second).release()).toBe(true);
  await locks.onApplicationShutdown();
});

it('where timers are numbers, the event loop is watched', () => {
  const watch = new EventLoopWatch();
  expect(watch.lateness()).toBeUndefined();
  watch.close();
});
