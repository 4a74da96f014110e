import { Redis, type RedisOptions } from 'ioredis';
import { once } from 'node:events';

/** A client of this Redis that is connected; it keeps no command for a later connection, as the clients of the library. */
export async function readyClient(url: string, options: RedisOptions = {}): Promise<Redis> {
  const client = new Redis(url, {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    enableReadyCheck: false,
    ...options,
  });
  client.on('error', () => {});
  await once(client, 'ready');
  return client;
}

/** The text of each write of this client to its socket while `work` runs. */
export async function writesDuring(client: Redis, work: () => Promise<unknown>): Promise<string[]> {
  const { stream } = client as unknown as { stream: { write: (text: string) => boolean } };
  const write = stream.write.bind(stream);
  const writes: string[] = [];
  stream.write = (text) => {
    writes.push(text);
    return write(text);
  };
  await work();
  stream.write = write;
  return writes;
}
