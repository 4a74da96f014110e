import { expect, it } from '@jest/globals';
import { AsyncLocalStorage } from 'node:async_hooks';
import { ManualClock, MemoryServer, memoryLockService } from '../../lib/memory/testing/index.js';
import { collectGarbage } from '../support/collect-garbage.js';
import { detached, systemClock } from '../../lib/engine/options/index.js';

const requests = new AsyncLocalStorage<string>();

it('a timer does not run inside the request that set it', async () => {
  const seen = await new Promise((resolve) => {
    requests.run('a request', () => systemClock.after(1, () => resolve(requests.getStore())));
  });
  expect(seen).toBeUndefined();
});

it('what outlives a request does not begin inside it', async () => {
  const seen = await requests.run('a request', () =>
    detached(async () => {
      await Promise.resolve();
      return requests.getStore();
    }),
  );
  expect(seen).toBeUndefined();
});

it('the request that opens the store, and asks for its health first, is not kept', async () => {
  const clock = new ManualClock();
  const locks = memoryLockService({ clock, server: new MemoryServer(clock) });
  const [objects, kept] = [new AsyncLocalStorage<object>(), [] as WeakRef<object>[]];
  const request = async (work: () => Promise<unknown>): Promise<void> => {
    const one = {};
    kept.push(new WeakRef(one));
    await objects.run(one, work);
  };
  await request(() => locks.withLock('k', async () => 1));
  await request(() => locks.health());
  await request(async () => 2); // what the last one did may still be on the stack
  await collectGarbage();
  expect(kept.slice(0, 2).map((one) => one.deref())).toEqual([undefined, undefined]);
  await locks[Symbol.asyncDispose]();
});
