import { expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { once } from 'node:events';
import { systemClock } from '../../lib/engine/options/index.js';
import { openConnection } from '../../lib/engine/redis/open-connection.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { controlOf } from '../support/control.js';

it('many answers READONLY replace the connection once', async () => {
  const server = await RedisProcess.start();
  const control = controlOf(server.url);
  const where = { host: '127.0.0.1', port: server.port };
  const connection = openConnection(where, 20_000, systemClock);
  const { client } = connection;
  try {
    await client.connect();
    await control.replicaof('127.0.0.1', '1');
    for (let connections = 0; connections < 2; connections += 1) {
      const { stream } = client;
      const listeners = stream.listenerCount('close');
      const ready = once(client, 'ready');
      const writes = Array.from({ length: 20 }, () => connection.send('set', ['k', 'v']));
      const [first, ...others] = (await Promise.allSettled(writes)).map(
        (write) => write.status === 'rejected' && String(write.reason),
      );
      expect(first).toMatch('(READONLY)');
      // The old connection ends 100 ms later at the latest, and a busy machine may not have answered all by then.
      for (const other of others) {
        expect(other).toMatch(/\(READONLY\)|the connection to Redis failed/);
      }
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

it('a primary behind Sentinels is spoken to by TLS where "tls" is given, unless the application says otherwise', () => {
  const behind = { sentinels: [{ host: '127.0.0.1', port: 1 }], name: 'locks', tls: {} };
  const client = new Redis({ ...behind, lazyConnect: true }); // which speaks plain text
  const sources = [behind, { ...behind, enableTLSForSentinelMode: false }, client];
  const modes = sources.map((source) => {
    const { options } = openConnection(source, 100, systemClock).client;
    return options.enableTLSForSentinelMode;
  });
  expect(modes).toEqual([true, false, false]);
});
