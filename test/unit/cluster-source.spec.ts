import { describe, expect, it } from '@jest/globals';
import { Cluster, type RedisOptions } from 'ioredis';
import { type CheckedSource, parseRedisUrl, systemClock } from '../../lib/engine/options/index.js';
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
