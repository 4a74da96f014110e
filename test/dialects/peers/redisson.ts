import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import type { Peer } from './peer.js';

/** How a name stands in the names of Redisson's other keys and channels. */
function tagged(lock: string): string {
  return lock.includes('{') ? lock : `{${lock}}`;
}

const LOCK = `
if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return 0
end
redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1`;

const UNLOCK = `
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 0
elseif redis.call('HINCRBY', KEYS[1], ARGV[1], -1) > 0 then
  return 1
end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', KEYS[2], '0')
return 1`;

const READ = `
local mode = redis.call('HGET', KEYS[1], 'mode')
if mode and mode ~= 'read' then
  return 0
end
redis.call('HSET', KEYS[1], 'mode', 'read')
local nth = redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
redis.call('SET', KEYS[2] .. ':' .. nth, 1, 'PX', ARGV[1])
redis.call('PEXPIRE', KEYS[1], math.max(redis.call('PTTL', KEYS[1]), ARGV[1]))
return 1`;

/** The hash lives on as long as the longest of the others' own keys says; without one it is deleted. */
const UNREAD = `
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 0
end
local count = redis.call('HINCRBY', KEYS[1], ARGV[1], -1)
if count == 0 then
  redis.call('HDEL', KEYS[1], ARGV[1])
end
redis.call('DEL', KEYS[3] .. ':' .. ARGV[1] .. ':rwlock_timeout:' .. (count + 1))
if redis.call('HLEN', KEYS[1]) > 1 then
  local longest = -3
  for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
    for nth = 1, tonumber(redis.call('HGET', KEYS[1], field)) or 0 do
      longest = math.max(longest, redis.call('PTTL', KEYS[3] .. ':' .. field .. ':rwlock_timeout:' .. nth))
    end
  end
  if longest > 0 then
    redis.call('PEXPIRE', KEYS[1], longest)
    return 1
  end
end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', KEYS[2], '0')
return 1`;

const WRITE = `
if redis.call('EXISTS', KEYS[1]) == 1 then
  return 0
end
redis.call('HSET', KEYS[1], 'mode', 'write', ARGV[2] .. ':write', 1)
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1`;

const UNWRITE = `
if redis.call('HDEL', KEYS[1], ARGV[1] .. ':write') == 0 then
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', KEYS[2], '1')
return 1`;

/** A thread of a Java service, as the documents of Redisson's wire format have it; it is no JVM. */
export class RedissonThread {
  readonly #thread = `${randomUUID()}:${Math.ceil(Math.random() * 99)}`;

  constructor(private readonly client: Redis) {}

  async lock(name: string, ttl: number): Promise<boolean> {
    return (await this.client.eval(LOCK, 1, name, ttl, this.#thread)) === 1;
  }

  async unlock(name: string): Promise<boolean> {
    const channel = `redisson_lock__channel:${tagged(name)}`;
    return (await this.client.eval(UNLOCK, 2, name, channel, this.#thread)) === 1;
  }

  async read(name: string, ttl: number): Promise<boolean> {
    const own = `${tagged(name)}:${this.#thread}:rwlock_timeout`;
    return (await this.client.eval(READ, 2, name, own, ttl, this.#thread)) === 1;
  }

  async unread(name: string): Promise<boolean> {
    const channel = `redisson_rwlock:${tagged(name)}`;
    const keys = [name, channel, tagged(name)];
    return (await this.client.eval(UNREAD, 3, ...keys, this.#thread)) === 1;
  }

  async write(name: string, ttl: number): Promise<boolean> {
    return (await this.client.eval(WRITE, 1, name, ttl, this.#thread)) === 1;
  }

  async unwrite(name: string): Promise<boolean> {
    const channel = `redisson_rwlock:${tagged(name)}`;
    return (await this.client.eval(UNWRITE, 2, name, channel, this.#thread)) === 1;
  }
}

function redissonPeer(
  name: string,
  kind: 'lock' | 'readWrite',
  acquire: 'lock' | 'read' | 'write',
  release: 'unlock' | 'unread' | 'unwrite',
): Peer {
  return {
    name: `${name} of Redisson, as documented`,
    dialect: { name: 'redisson', kind },
    shortest: 50,
    missing: undefined,
    async connect(url) {
      const client = new Redis(url);
      const thread = new RedissonThread(client);
      return {
        acquire: (lock, ttl) => thread[acquire](lock, ttl),
        release: (lock) => thread[release](lock),
        close: async () => client.disconnect(),
      };
    },
  };
}

export const redissonPeers: readonly Peer[] = [
  redissonPeer('RLock', 'lock', 'lock', 'unlock'),
  redissonPeer('RReadWriteLock’s writer', 'readWrite', 'write', 'unwrite'),
];
