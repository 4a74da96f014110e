import { expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Redis } from 'ioredis';
import { freePort, RedisProcess } from '../../tools/redis-server.js';

it('a server that cannot start says why, at once, and leaves no listener', async () => {
  const before = process.listenerCount('exit');
  let tries = 0;
  const args = async (): Promise<string[]> => {
    tries += 1;
    return ['--no-such-directive', 'x'];
  };
  await expect(RedisProcess.start({ args })).rejects.toThrow('no-such-directive');
  expect(tries).toBe(1);
  expect(process.listenerCount('exit')).toBe(before);
});

it('a server whose port another has is started on the next', async () => {
  const port = await freePort();
  const another = createServer().listen(port, '127.0.0.1');
  await once(another, 'listening');
  let tries = 0;
  const args = async (): Promise<string[]> => {
    tries += 1;
    return tries === 1 ? ['--port', String(port)] : [];
  };
  const server = await RedisProcess.start({ args });
  await server.stop();
  another.close();
  expect(tries).toBe(2);
});

it('a free port is none that the kernel gives to connections, which would take it while its server is down', async () => {
  const ports = await Promise.all(Array.from({ length: 100 }, () => freePort()));
  expect(Math.max(...ports)).toBeLessThan(32_768);
});

it('a Sentinel whose port another has is started on the next, and starts again as a Sentinel', async () => {
  const port = await freePort();
  const another = createServer().listen(port, '127.0.0.1');
  await once(another, 'listening');
  const ports = [port, await freePort()];
  const sentinel = [`sentinel monitor watched 127.0.0.1 ${port} 2`];
  const server = await RedisProcess.start({ sentinel, port: async () => ports.shift()! });
  await server.kill();
  await server.run();
  const client = new Redis(server.url);
  const info = await client.info('server');
  client.disconnect();
  await server.stop();
  another.close();
  expect(info).toContain('redis_mode:sentinel');
  expect(ports).toEqual([]);
});
