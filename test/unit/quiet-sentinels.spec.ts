import { expect, it } from '@jest/globals';
import { QuietSentinels } from '../../lib/redis/our-client.js';
import { freePort } from '../../tools/redis-server.js';

it('somebody hears the errors of a connection to a Sentinel, so ioredis writes none to the console', async () => {
  const endpoint = { host: '127.0.0.1', port: await freePort() };
  const connector = new QuietSentinels({ sentinels: [endpoint], name: 'locks' });
  const client = connector.connectToSentinel(endpoint, { lazyConnect: true });
  expect(client.listenerCount('error')).toBe(1);
  expect(client.options).toMatchObject({ ...endpoint, lazyConnect: true, disconnectTimeout: 100 });
});
