import { RedisLockModule } from 'nest-redis-lock';

// Without their types, which take a compiler minutes.
const { createClient, createCluster } = require('@redis/client');
const { Redis: Upstash } = require('@upstash/redis');
const Mock = require('ioredis-mock');

it.each([
  ['node-redis', createClient()],
  ['a Cluster of node-redis', createCluster({ rootNodes: [] })],
  ['@upstash/redis', new Upstash({ url: 'https://localhost', token: 'secret' })],
  ['ioredis-mock', new Mock()],
  ['a Cluster of ioredis-mock', new Mock.Cluster([{ host: 'a', port: 1 }])],
])('a client of %s is refused', (_, redis) => {
  expect(() => RedisLockModule.forRoot({ redis })).toThrow(
    'Option "redis" is a client, and none of ioredis.',
  );
});
