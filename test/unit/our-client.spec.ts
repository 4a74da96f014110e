import { expect, it } from '@jest/globals';
import { once } from 'node:events';
import { systemClock } from '../../lib/options/index.js';
import { openClient } from '../../lib/redis/open-client.js';
import { watched } from '../../lib/redis/our-client.js';
import { RedisConnection } from '../../lib/redis/redis-connection.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { controlOf } from '../support/control.js';

it('many answers READONLY replace the connection once', async () => {
  const server = await RedisProcess.start();
  const control = controlOf(server.url);
  const client = watched(
    openClient({ host: '127.0.0.1', port: server.port }, 2_000),
    2_000,
    systemClock,
  );
  const connection = new RedisConnection(client, 2_000, systemClock);
  try {
    await client.connect();
    await control.replicaof('127.0.0.1', '1');
    for (let connections = 0; connections < 2; connections += 1) {
      const { stream } = client;
      const listeners = stream.listenerCount('close');
      const ready = once(client, 'ready');
      const writes = Array.from({ length: 20 }, () => connection.send('set', ['k', 'v']));
      for (const write of writes) await expect(write).rejects.toThrow('(READONLY)');
      expect(stream.listenerCount('close')).toBeLessThanOrEqual(listeners + 1);
      await ready;
      expect(client.stream).not.toBe(stream);
    }
  } finally {
    connection.close();
    control.disconnect();
    await server.stop();
  }
});
