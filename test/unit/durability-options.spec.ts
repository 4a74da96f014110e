import { describe, expect, it } from '@jest/globals';
import { LockOptionsError, type RedisLockOptions } from '../../lib/index.js';
import { RedisLockStore } from '../../lib/engine/locks/lock/redis-lock-store.js';
import { moduleSettings, systemClock } from '../../lib/engine/options/index.js';
import { risks } from '../../lib/engine/redis/server-check.js';

const settings = (options: unknown) => moduleSettings(options as RedisLockOptions);

it.each([
  [
    '6.2.5',
    'Set option "replicas": before Redis 6.2.7, min-replicas-to-write does not hold scripts.',
  ],
  [
    '6.2.6',
    'Set option "replicas": before Redis 6.2.7, min-replicas-to-write does not hold scripts.',
  ],
  ['6.2.7', undefined],
  ['6.2.14', undefined],
  ['7.0.0', undefined],
])('min-replicas-to-write counts where it holds scripts: Redis %s', (version, remedy) => {
  const about = ['connected_slaves:1', 'min_slaves_good_slaves:1', 'aof_enabled:1'];
  const info = [`redis_version:${version}`, 'maxmemory_policy:noeviction', ...about].join('\r\n');
  const found = risks(info, { durability: 'refuse' });
  expect(found.map((risk) => risk.remedy)).toEqual(remedy === undefined ? [] : [remedy]);
});

describe('option "replicas"', () => {
  it('is off unless it is given, and waits no longer than other bounds allow', () => {
    expect(settings({}).replicas).toBeUndefined();
    expect(settings({ replicas: { acks: 1 } }).replicas).toEqual({ acks: 1, timeout: 500 });
    expect(settings({ replicas: { acks: 1 }, ttl: 900 }).replicas?.timeout).toBe(300);
    expect(settings({ replicas: { acks: 1 }, commandTimeout: 400 }).replicas?.timeout).toBe(200);
    const short = { ttl: 3_000, commandTimeout: 400 };
    expect(settings({ replicas: { acks: 1 }, ...short }).replicas?.timeout).toBe(200);
    expect(settings({ replicas: { acks: 2, timeout: '50ms' } }).replicas?.timeout).toBe(50);
  });

  it.each<[unknown, string]>([
    [1, 'Option "replicas" takes { acks, timeout }'],
    [null, 'Option "replicas" takes { acks, timeout }'],
    [{}, 'Option "replicas.acks" takes a whole number'],
    [{ acks: 0 }, 'Option "replicas.acks" takes a whole number'],
    [{ acks: 1.5 }, 'Option "replicas.acks" takes a whole number'],
    [{ acks: 1, wait: 5 }, 'Option "replicas" has no "wait"'],
    [{ acks: 1, timeout: 0 }, 'Option "replicas.timeout" is 0'],
    [{ acks: 1, timeout: '2s' }, 'longer than half of "commandTimeout": set it to 1000 ms'],
  ])('%j is refused', (replicas, message) => {
    expect(() => settings({ replicas })).toThrow(LockOptionsError);
    expect(() => settings({ replicas })).toThrow(message);
  });

  it('is refused where a ttl leaves no time for it, and beside "nodes" or a dialect', () => {
    expect(() => settings({ replicas: { acks: 1, timeout: 101 }, ttl: 300 })).toThrow(
      'longer than a third of "ttl": set it to 100 ms or less',
    );
    const nodes = ['redis://127.0.0.1:1', 'redis://127.0.0.1:2'];
    expect(() => settings({ replicas: { acks: 1 }, nodes })).toThrow('exclude each other');
    expect(() => settings({ replicas: { acks: 1 }, dialect: 'redlock' })).toThrow(
      'clients of "redlock" wait for no replica',
    );
  });
});

describe('option "durability"', () => {
  it('warns unless it says otherwise', () => {
    expect(settings({}).durability).toBe('warn');
    expect(settings({ durability: 'refuse' }).durability).toBe('refuse');
    expect(() => settings({ durability: 'strict' })).toThrow("takes 'ignore', 'warn' or 'refuse'");
  });

  it("refuses a Cluster where it is 'refuse'", () => {
    const redis = { cluster: ['redis://127.0.0.1:1'] };
    const refusing = settings({ redis, durability: 'refuse' });
    expect(() => new RedisLockStore(refusing, systemClock)).toThrow(LockOptionsError);
    expect(() => new RedisLockStore(refusing, systemClock)).toThrow('which a Cluster cannot keep');
    expect(() => new RedisLockStore(settings({ redis }), systemClock)).not.toThrow();
  });
});
