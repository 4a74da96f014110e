import { expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:net';
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
