import { expect, it } from '@jest/globals';
import { LockClient } from '../../lib/engine/client/lock-client.js';
import { moduleSettings } from '../../lib/engine/options/index.js';
import { ManualClock, memoryLockService, MemoryServer } from '../../lib/memory/testing/index.js';
import { later } from '../support/later.js';
import { MemoryLockStore } from '../../lib/memory/memory-lock-store.js';

const clock = new ManualClock();
const settings = moduleSettings({ commandTimeout: 100, outageWait: 1_000 });

/** The leases of one more process on the server. */
function application(server: MemoryServer): LockClient {
  return new LockClient(new MemoryLockStore(server, settings), settings, clock);
}

it('applications on one server compete, those on two do not', async () => {
  const server = new MemoryServer(clock);
  const [a, b, stranger] = [
    application(server),
    application(server),
    application(new MemoryServer(clock)),
  ];
  const once = { ...settings.call, wait: 0 };
  const lease = await a.acquire('k', once);
  await expect(b.acquire('k', once)).rejects.toMatchObject({ code: 'LOCK_NOT_ACQUIRED' });
  expect((await stranger.acquire('k', once)).held).toBe(true);
  await lease.release();
  expect((await b.acquire('k', once)).held).toBe(true);
});

it('a lease of no time is refused, as by Redis', async () => {
  const a = application(new MemoryServer(clock));
  const call = later(a.acquire('k', { ...settings.call, ttl: 0 }));
  await clock.advance(300);
  await expect(call).rejects.toThrow('Redis answered with an error (ERR)');
});

it('key prefixes keep applications apart', async () => {
  const server = new MemoryServer(clock);
  const other = moduleSettings({ keyPrefix: 'other:' });
  const a = application(server);
  const b = new LockClient(new MemoryLockStore(server, other), other, clock);
  expect((await a.acquire('k', settings.call)).held).toBe(true);
  expect((await b.acquire('k', settings.call)).held).toBe(true);
});

it('a waiter lives through a pause of the server', async () => {
  const server = new MemoryServer(clock);
  const [a, b] = [application(server), application(server)];
  const lease = await a.acquire('k', settings.call);
  const wait = b.acquire('k', settings.call);
  await clock.advance(10);
  server.pause();
  await clock.advance(900);
  server.resume();
  await clock.advance(10);
  await lease.release();
  expect((await wait).held).toBe(true);
});

it('a server that does not answer is an error of its own', async () => {
  const server = new MemoryServer(clock);
  const a = application(server);
  server.pause();
  const call = a.acquire('k', settings.call);
  call.catch(() => {});
  await clock.advance(300);
  await expect(call).rejects.toMatchObject({ code: 'LOCK_STORE' });
});

it('a lease ends on a clock that a test moves', async () => {
  const a = application(new MemoryServer(clock));
  const lease = await a.acquire('k', { ...settings.call, ttl: 1_000, renew: false });
  await clock.advance(900);
  expect(lease.held).toBe(true);
  await clock.advance(100);
  expect(lease.held).toBe(false);
  expect(lease.signal.aborted).toBe(true);
});

it('keeps in memory no more than twice what has not expired, however many keys there were', async () => {
  const server = new MemoryServer(clock);
  const locks = memoryLockService({ server });
  let most = 0;
  for (let second = 0; second < 300; second += 1) {
    for (let nth = 0; nth < 5; nth += 1) await locks.optimistic(`${second}:${nth}`);
    most = Math.max(most, server.keys.size);
    await clock.advance(1_000);
  }
  const alive = server.keys.names().length;
  expect(alive).toBeGreaterThan(100);
  expect(most).toBeLessThan(2.5 * alive);
});
