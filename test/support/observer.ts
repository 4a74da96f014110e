import type { Redis } from 'ioredis';
import { controlOf } from './control.js';
import { until } from './until.js';

/** Looks at the keys of locks from outside, on a connection of its own. */
export class Observer {
  readonly redis: Redis;

  constructor(url: string) {
    this.redis = controlOf(url);
  }

  holder(key: string): Promise<string | null> {
    return this.redis.get(`lock:${key}`);
  }

  waiting(key: string): Promise<number> {
    return this.redis.zcard(`{lock:${key}}:queue`);
  }

  /** Resolves when exactly `count` entries stand in the queue of `key`. */
  async queued(key: string, count: number): Promise<void> {
    await until(
      `${count} entries queued for ${key}`,
      async () => (await this.waiting(key)) === count,
    );
  }

  /** Every key of locks except fences, versions and last snapshots of processes, which outlive them by design. */
  async traces(): Promise<string[]> {
    const keys = await this.redis.keys('*lock:*');
    return keys.filter((key) => !/:(fence|version|seen)$/.test(key)).sort();
  }

  /** How many commands of a name the server has run. */
  async calls(...commands: string[]): Promise<number> {
    const stats = await this.redis.info('commandstats');
    return commands.reduce((sum, command) => {
      const [, calls] = new RegExp(`^cmdstat_${command}:calls=(\\d+)`, 'm').exec(stats) ?? [];
      return sum + Number(calls ?? 0);
    }, 0);
  }

  close(): void {
    this.redis.disconnect();
  }
}
