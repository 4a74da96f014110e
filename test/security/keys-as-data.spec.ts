import { expect, it } from '@jest/globals';
import { PATIENCE } from '../support/bounds.js';
import { later } from '../support/later.js';
import { until } from '../support/until.js';
import { useScene } from './scene.js';

const scene = useScene();

/** Names of locks, and labels of calls, that would be more than names to a script, a pattern, a message or the protocol of Redis. */
it.each([
  "]] redis.call('FLUSHALL') --[[",
  '" .. redis.call("FLUSHALL") .. "',
  '%s*[^%d](.-)',
  '*',
  '[a-z]?\\',
  'k granted a/b/1000/x1 3000 0 0 1 0 - lock:k',
  ' 0 kept 0 forced ',
  '$8 *1',
  'ключ 😀',
  '__proto__',
  '|~/#:',
])('a name, and a label, is data to all that locks do: %j', async (name) => {
  const { redis } = scene.observer;
  await redis.set('data', 'untouched');
  const [process, other] = [await scene.process(), await scene.process()];
  const beside = await other.acquire('k', { ttl: 60_000 });
  const lease = await process.acquire(name, { ttl: 60_000, minHold: 100, label: name });
  const waits = later(other.acquire(name, { ttl: 60_000, wait: PATIENCE, label: name }));
  await scene.observer.queued(name, 1);
  await lease.extend();
  expect(await lease.release()).toBe(true); // who waits is told when the minimum hold is over
  const next = await waits;
  expect(next.fencingToken).toBeGreaterThan(lease.fencingToken);
  const { holder } = await process.inspect(name);
  expect(holder).toContain(other.store.processId);
  expect(await process.force(name)).toBe(true);
  await until('its holder knows', () => !next.held);
  expect([beside.held, await beside.release()]).toEqual([true, true]);
  await until('nothing is under way', () => process.idle && other.idle);
  expect(await scene.observer.traces()).toEqual([]);
  expect(await redis.get('data')).toBe('untouched');
});
