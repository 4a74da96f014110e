import { describe, expect, it } from '@jest/globals';
import { Cluster, type RedisOptions } from 'ioredis';
import {
  type CheckedSource,
  parseRedisUrl,
  type RedisSource,
  systemClock,
} from '../../lib/engine/options/index.js';
import { redisSource } from '../../lib/engine/options/redis-source.js';
import { ClusterSource } from '../../lib/engine/redis/cluster/cluster-source.js';

/** How a node is spoken to. */
function accessOf(source: CheckedSource): Pick<RedisOptions, 'username' | 'password'> {
  const { username, password } = ClusterSource.of(source)!.connection('a:1', 100, systemClock)
    .client.options;
  return { username, password };
}

it("a node of the application's client may be a port of this machine", () => {
  const client = new Cluster([7_001], { lazyConnect: true });
  expect(ClusterSource.of(client)!.seeds).toEqual(['127.0.0.1:7001']);
});

it('a node answers as our code reads it, whatever the application has its client answer', () => {
  const source = { cluster: ['a:1'], protocol: 3, replyMapping: 'resp3' } as RedisSource;
  const { options } = ClusterSource.of(redisSource('"redis"', source))!.connection(
    'a:1',
    100,
    systemClock,
  ).client;
  expect(options).toMatchObject({ replyMapping: 'legacy' });
});

describe('a natMap', () => {
  const mapped: readonly [string, (natMap: object) => RedisSource][] = [
    ['the options', (natMap) => ({ cluster: ['a:1'], natMap: natMap as never })],
    [
      "the application's client",
      (natMap) => new Cluster(['a:1'], { lazyConnect: true, natMap: natMap as never }),
    ],
  ];

  it.each(mapped)('of %s is refused where a place has no host or no port', (_, source) => {
    for (const place of [{ host: 'b' }, { port: 2 }, { host: 'b', port: undefined }]) {
      const given = source({ 'a:1': { host: 'a', port: 1 }, 'x:1': place });
      expect(() => redisSource('"redis"', given)).toThrow(
        'Option "redis" has a place in "natMap" without "host" or "port".',
      );
    }
  });

  it.each(mapped)('of %s is taken where each place has both', (_, source) => {
    const given = source({ 'a:1': { host: 'b', port: 2 } });
    expect(ClusterSource.of(redisSource('"redis"', given))!.mapped('a:1')).toBe('b:2');
  });
});

describe('a password that is undefined', () => {
  const unset = { username: undefined, password: undefined } as unknown as RedisOptions;
  const access = { username: 'user', password: 'secret' };

  it('of the options leaves that of a URL', () => {
    expect(accessOf({ ...unset, cluster: ['redis://user:secret@a:1'] })).toEqual(access);
    expect(accessOf({ password: 'other', cluster: ['redis://user:secret@a:1'] })).toEqual({
      username: 'user',
      password: 'other',
    });
  });

  it('stands in no URL that has a user alone, nor a user in one that has a password alone', () => {
    const [user, password] = ['redis://user@a:1', 'redis://:secret@a:1'];
    expect(accessOf({ cluster: [user] })).toMatchObject({ username: 'user', password: null });
    expect(accessOf({ cluster: [password] })).toMatchObject({ username: null, password: 'secret' });
    expect(parseRedisUrl('"redis"', user)).not.toHaveProperty('password');
    expect(parseRedisUrl('"redis"', password)).not.toHaveProperty('username');
  });

  it("of the application's client leaves that of its nodes", () => {
    const nodes = [
      { host: 'a', port: 1, ...unset },
      { host: 'b', port: 1, ...access },
    ];
    expect(accessOf(new Cluster(nodes, { lazyConnect: true, redisOptions: unset }))).toEqual(
      access,
    );
  });
});
