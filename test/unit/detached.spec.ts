import { expect, it } from '@jest/globals';
import { AsyncLocalStorage } from 'node:async_hooks';
import { detached, systemClock } from '../../lib/options/index.js';

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
