import { expect, it } from '@jest/globals';
import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import { ClusterNodes } from '../../lib/engine/redis/cluster/cluster-nodes.js';
import { RedisConnection } from '../../lib/engine/redis/redis-connection.js';
import { ManualClock } from '../../lib/memory/testing/index.js';
import { FakeRedis } from '../support/fake-redis.js';

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

it('a node is lost once, when it could be used, and not with each attempt to reach it', async () => {
  let lost = 0;
  const clock = new ManualClock();
  const redis = new FakeRedis((name) => {
    if (name === 'info') return 'redis_version:7.2.0\r\n';
    return name === 'evalsha' ? 'OK' : ['2000', '250000'];
  });
  redis.status = 'wait';
  const nodes = new ClusterNodes(
    () => new RedisConnection(redis.client, 500, clock),
    {},
    () => {},
    () => (lost += 1),
  );
  redis.connect = async () => {};
  const opening = nodes.open('a:1');
  redis.go();
  expect(lost).toBe(0);
  redis.come();
  await opening;
  redis.go();
  redis.go();
  expect(lost).toBe(1);
  nodes.close();
});
