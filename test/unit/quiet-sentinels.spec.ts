import { expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { QuietSentinels } from '../../lib/engine/redis/ioredis-workarounds.js';
import { freePort } from '../../tools/redis-server.js';

it('somebody hears the errors of a connection to a Sentinel, so ioredis writes none to the console', async () => {
  const endpoint = { host: '127.0.0.1', port: await freePort() };
  const connector = new QuietSentinels({ sentinels: [endpoint], name: 'locks' });
  const client = connector.connectToSentinel(endpoint, { lazyConnect: true });
  expect(client.listenerCount('error')).toBe(1);
  expect(client.options).toMatchObject({ ...endpoint, lazyConnect: true, disconnectTimeout: 100 });
});

it('a failover of another primary of the same Sentinels leaves our connection, one of our own does not', async () => {
  const endpoint = { host: '127.0.0.1', port: await freePort() };
  const connector = new QuietSentinels({ sentinels: [endpoint], name: 'locks' });
  const client = connector.connectToSentinel(endpoint, { lazyConnect: true });
  const heard: string[] = [];
  client.on('message', (_, text) => void heard.push(text)); // as ioredis listens
  client.emit('message', '+switch-master', 'locks-2 10.0.0.1 1 10.0.0.2 1');
  client.emit('message', '+switch-master', 'locks 10.0.0.1 1 10.0.0.2 1');
  expect(heard).toEqual(['locks 10.0.0.1 1 10.0.0.2 1']);
});

it('a connection that is closed while its socket is made asks no Sentinel of failovers', async () => {
  const endpoint = { host: '127.0.0.1', port: await freePort() };
  for (const closed of [true, false]) {
    const options = { sentinels: [endpoint], name: 'locks', failoverDetector: true };
    const connector = new QuietSentinels({ ...options, sentinelMaxConnections: 1 });
    let asked = 0;
    connector.connectToSentinel = () => {
      asked += 1;
      return new Redis({ lazyConnect: true, retryStrategy: () => null });
    };
    connector.connecting = true;
    if (closed) connector.disconnect();
    await connector.initFailoverDetector().catch(() => {}); // nobody answers at the port
    expect(asked).toBe(closed ? 0 : 1);
  }
});
