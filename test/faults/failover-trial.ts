import type { Redis, RedisOptions } from 'ioredis';
import type { RedisLockOptions } from '../../lib/engine/options/index.js';
import { SentinelProcess } from '../../tools/redis-sentinel.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { controlOf } from '../support/control.js';
import { LockProcess } from '../support/lock-process.js';

/** What the new primary has of a lease that only the old one renews ends after this, in ms. */
const TTL = 12_000;

/** A primary and its replicas, a resource beside them, and who was connected to either: all of one trial. */
export class FailoverTrial {
  readonly #closing: (() => unknown)[] = [];

  private constructor(
    readonly group: SentinelProcess,
    readonly resource: RedisProcess,
  ) {}

  static async start(): Promise<FailoverTrial> {
    return new FailoverTrial(await SentinelProcess.start(), await RedisProcess.start());
  }

  async client(options: RedisLockOptions): Promise<LockProcess> {
    const made = new LockProcess({
      commandTimeout: 1_000,
      connectTimeout: 30_000,
      ttl: TTL,
      wait: 30_000,
      durability: 'ignore',
      ...options,
    });
    this.#closing.push(() => made.close());
    await made.locks.open();
    return made;
  }

  plain(options: RedisOptions): Redis {
    const redis = controlOf(options);
    this.#closing.push(() => redis.disconnect());
    return redis.on('error', () => {});
  }

  async stop(): Promise<void> {
    for (const server of this.group.servers) server.signal('SIGCONT');
    await Promise.all(this.#closing.map((close) => close()));
    await Promise.all([this.group.stop(), this.resource.stop()]);
  }
}
