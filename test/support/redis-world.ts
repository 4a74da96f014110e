import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { RedisLockStore } from '../../lib/engine/locks/lock/redis-lock-store.js';
import type { LockStore } from '../../lib/engine/locks/lock-store.js';
import {
  type Clock,
  type ModuleSettings,
  type RedisLockOptions,
  type RedisSource,
  redisSource,
  systemClock,
} from '../../lib/engine/options/index.js';
import { prefixOf } from '../../lib/engine/redis/index.js';
import type { RedisProcess } from '../../tools/redis-server.js';
import { COMMAND, PATIENCE, TTL } from './bounds.js';
import type { Kind } from './kinds.js';
import { World, type Wrap } from './world.js';

const PLANT: Readonly<Record<string, readonly [string, ...string[]]>> = {
  string: ['SET', 'somebody else’s'],
  hash: ['HSET', 'field', '1'],
  list: ['RPUSH', 'item'],
  set: ['SADD', 'member'],
  zset: ['ZADD', '1', 'member'],
  stream: ['XADD', '*', 'field', '1'],
};

/** A key, or who is in it, ends so much sooner. */
const AGE = `
  if redis.call('TYPE', KEYS[1]).ok == 'zset' and not string.find(KEYS[1], ':queue$') then
    for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
      if not string.find(member, '/') or string.find(KEYS[1], ':holders$') then
        redis.call('ZINCRBY', KEYS[1], -ARGV[1], member)
      end
    end
  end
  local left = redis.call('PTTL', KEYS[1])
  if left > 0 then redis.call('PEXPIRE', KEYS[1], left - ARGV[1]) end`;

/** A real Redis and its real time. */
export class RedisWorld extends World {
  readonly clock = systemClock;
  protected paused = false;
  override readonly redis: { readonly control: Redis; readonly prefix: string };

  constructor(
    kind: Kind,
    wrap: Wrap | undefined,
    private readonly where: RedisSource,
    control: Redis,
    private readonly server: RedisProcess,
    /** A replica confirms every grant and every renewal. */
    override readonly confirms = false,
  ) {
    super(kind, wrap);
    this.redis = { control, prefix: `${prefixOf(redisSource('"redis"', where))}lock:` };
  }

  async until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
    const end = performance.now() + this.patience;
    while (!(await condition())) {
      if (performance.now() > end)
        throw new Error(`Within ${this.patience} ms it did not happen that ${what}.`);
      await this.elapse(2);
    }
  }

  elapse(ms: number): Promise<void> {
    return this.step(() => sleep(ms));
  }

  async pass(ms: number): Promise<void> {
    await this.ageServers(ms);
    for (const clock of this.clocks) clock.pass(ms);
  }

  async outlive(ms: number): Promise<void> {
    for (const clock of this.clocks) clock.pass(ms);
    await this.ageServers(ms);
  }

  override noHurry(): Promise<void> {
    return this.ageServers(-TTL);
  }

  protected async ageServers(ms: number): Promise<void> {
    if (!this.paused) await this.age(this.redis.control, await this.names('*'), ms);
  }

  protected async age(control: Redis, names: readonly string[], ms: number): Promise<void> {
    await Promise.all(names.map((name) => control.eval(AGE, 1, name, Math.ceil(ms))));
  }

  async silence(ms: number): Promise<void> {
    const { control } = this.redis;
    for (const seen of await this.names('*:seen')) {
      for (const process of await control.zrange(seen, 0, '-1')) {
        if (!process.includes('/')) await control.zincrby(seen, -ms, process);
      }
    }
  }

  async flush(): Promise<void> {
    await this.redis.control.flushall();
  }

  async pause(): Promise<void> {
    this.paused = true;
    this.signal('SIGSTOP');
  }

  async resume(): Promise<void> {
    this.signal('SIGCONT');
    this.paused = false;
  }

  /** To each of its servers. */
  protected signal(signal: NodeJS.Signals): void {
    this.server.signal(signal);
  }

  async plant(key: string, type: string): Promise<void> {
    await this.plantOn(this.redis.control, key, type);
  }

  protected async plantOn(control: Redis, key: string, type: string): Promise<void> {
    const [command, ...operands] = PLANT[type]!;
    await control.call(command, this.redis.prefix + key, ...operands);
  }

  async keys(): Promise<{ name: string; ttl: number }[]> {
    const names = await this.names('*');
    const ttls = await Promise.all(names.map((name) => this.redis.control.pttl(name)));
    return names.map((name, at) => ({ name, ttl: ttls[at]! })).filter(({ ttl }) => ttl !== -2);
  }

  /** Every key of this pattern. */
  protected names(pattern: string): Promise<string[]> {
    return this.redis.control.keys(pattern);
  }

  protected store(settings: ModuleSettings, clock: Clock): LockStore {
    return new RedisLockStore(settings, clock);
  }

  protected source({ commandTimeout = COMMAND, ttl = TTL }: RedisLockOptions): RedisLockOptions {
    const timeout = Math.floor(Math.min(Number(ttl) / 3, Number(commandTimeout) / 2)); // as long as may be
    const replicas = this.confirms ? { acks: 1, timeout } : undefined;
    return { commandTimeout, redis: this.where, replicas, wait: 10 * PATIENCE };
  }
}
