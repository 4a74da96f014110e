import { expect, it } from '@jest/globals';
import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import { ClusterNodes } from '../../lib/redis/cluster/cluster-nodes.js';
import type { RedisConnection } from '../../lib/redis/redis-connection.js';
import { ManualClock } from '../../lib/testing/index.js';

it('a node is connected to outside of the request that needs it first', async () => {
  const requests = new AsyncLocalStorage<string>();
  const connectedIn: unknown[] = [];
  const connect = async (): Promise<void> => void connectedIn.push(requests.getStore());
  const client = Object.assign(new EventEmitter(), { options: {}, connect });
  const { signal: closed } = new AbortController();
  const connection = { client, clock: new ManualClock(), closed, connectTimeout: 50, close() {} };
  const made = (): RedisConnection => connection as unknown as RedisConnection;
  const nodes = new ClusterNodes(
    made,
    {},
    () => {},
    () => {},
  );
  const opening = requests.run('a request', () => nodes.open('a:1'));
  opening.catch(() => {});
  expect(connectedIn).toEqual([undefined]);
  await connection.clock.advance(60);
  await expect(opening).rejects.toThrow('could not be used');
  nodes.close();
});
