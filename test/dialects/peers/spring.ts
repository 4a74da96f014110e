import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Peer } from './peer.js';

const OBTAIN = `
local client = redis.call('GET', KEYS[1])
if client and client ~= ARGV[1] then
  return 0
elseif client then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
else
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
end
return 1`;

const UNLOCK = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] or redis.call('UNLINK', KEYS[1]) ~= 1 then
  return 0
elseif ARGV[2] then
  redis.call('PUBLISH', ARGV[2], KEYS[1])
end
return 1`;

/** How a registry tells and hears that a lock is free. */
export type SpringWaiting = 'spin' | 'one channel' | 'a channel a lock';

/** A RedisLockRegistry, as its source has it in 6.5.2 (one channel a registry) and 7.0 (one a lock); it is no JVM. */
export class SpringRegistry {
  readonly #client = randomUUID();
  readonly #heard = new Map<string, () => void>();
  #listener: Redis | undefined;

  constructor(
    private readonly redis: Redis,
    private readonly registry: string,
    private readonly waiting: SpringWaiting,
  ) {}

  /** tryLock(): once. */
  async obtain(name: string, ttl: number): Promise<boolean> {
    return (await this.redis.eval(OBTAIN, 1, this.#key(name), this.#client, ttl)) === 1;
  }

  async unlock(name: string): Promise<boolean> {
    const key = this.#key(name);
    const told = this.waiting === 'spin' ? [] : [this.#channel(key)];
    return (await this.redis.eval(UNLOCK, 1, key, this.#client, ...told)) === 1;
  }

  /** lock(), with PUB_SUB_LOCK: hears of it, or asks again when a lease is over. */
  async lock(name: string, ttl: number): Promise<void> {
    const key = this.#key(name);
    await this.#listen();
    for (;;) {
      const heard = new Promise<void>((resolve) => this.#heard.set(key, resolve));
      if (await this.obtain(name, ttl)) return;
      await Promise.race([heard, sleep(ttl, undefined, { ref: false })]);
    }
  }

  close(): void {
    this.redis.disconnect();
    this.#listener?.disconnect();
  }

  async #listen(): Promise<void> {
    if (this.#listener) return;
    this.#listener = this.redis.duplicate();
    const hear = (key: string): void => this.#heard.get(key)?.();
    this.#listener.on('message', (_channel, key) => hear(key));
    this.#listener.on('pmessage', (_pattern, _channel, key) => hear(key));
    if (this.waiting === 'one channel') await this.#listener.subscribe(`${this.registry}-channel`);
    else await this.#listener.psubscribe(`${this.registry}-channel:*`);
  }

  #key(name: string): string {
    return `${this.registry}:${name}`;
  }

  #channel(key: string): string {
    const all = `${this.registry}-channel`;
    return this.waiting === 'one channel' ? all : `${all}:${key}`;
  }
}

function springPeer(waiting: SpringWaiting): Peer {
  return {
    name: `RedisLockRegistry of Spring (${waiting}), by its source`,
    dialect: { name: 'spring', registry: 'app:locks', publish: waiting !== 'spin' },
    shortest: 50,
    waits: waiting !== 'spin',
    missing: undefined,
    async connect(url) {
      const registry = new SpringRegistry(new Redis(url), 'app:locks', waiting);
      return {
        acquire: (name, ttl) => registry.obtain(name, ttl),
        release: (name) => registry.unlock(name),
        wait: async (name) => {
          await registry.lock(name, 60_000);
          return true;
        },
        close: async () => registry.close(),
      };
    },
  };
}

export const springPeers: readonly Peer[] = [
  springPeer('spin'),
  springPeer('one channel'),
  springPeer('a channel a lock'),
];
