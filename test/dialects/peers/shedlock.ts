import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import type { Peer } from './peer.js';

const DELETE = `
return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1]) or 0`;

const KEEP = `
return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('PEXPIRE', KEYS[1], ARGV[2]) or 0`;

/** A lock as ShedLock's LockConfiguration names it, in ms. */
export interface Job {
  readonly name: string;
  readonly atMost: number;
  readonly atLeast?: number;
}

/**
 * A Redis LockProvider of ShedLock by its source: `safe` with safeUpdate(true), which releases after 6.5.0 have; else
 * as all others, which compare nothing. It is no JVM.
 */
export class ShedLock {
  readonly #held = new Map<string, { value: string; keptUntil: number }>();

  constructor(
    private readonly redis: Redis,
    private readonly safe: boolean,
    private readonly environment = 'default',
  ) {}

  async lock({ name, atMost, atLeast = 0 }: Job): Promise<boolean> {
    const key = this.#key(name);
    const value = `ADDED:${new Date().toISOString()}@host:${randomUUID()}`;
    if ((await this.redis.set(key, value, 'PX', atMost, 'NX')) === null) return false;
    this.#held.set(key, { value, keptUntil: Date.now() + atLeast });
    return true;
  }

  /** What it did; Java is not told. */
  async unlock(name: string): Promise<boolean> {
    const key = this.#key(name);
    const { value, keptUntil } = this.#held.get(key)!;
    const left = keptUntil - Date.now();
    if (left > 0) return this.#expire(key, value, left);
    if (!this.safe) return (await this.redis.del(key)) === 1;
    return (await this.redis.eval(DELETE, 1, key, value)) === 1;
  }

  async extend({ name, atMost }: Job): Promise<boolean> {
    const key = this.#key(name);
    return this.#expire(key, this.#held.get(key)!.value, atMost);
  }

  async #expire(key: string, value: string, ms: number): Promise<boolean> {
    if (this.safe) return (await this.redis.eval(KEEP, 1, key, value, ms)) === 1;
    return (await this.redis.set(key, value, 'PX', ms, 'XX')) !== null;
  }

  #key(name: string): string {
    return `job-lock:${this.environment}:${name}`;
  }
}

export const shedLockPeer: Peer = {
  name: 'ShedLock with safeUpdate, by its source',
  dialect: 'shedlock',
  shortest: 50,
  missing: undefined,
  async connect(url) {
    const redis = new Redis(url);
    const provider = new ShedLock(redis, true);
    return {
      acquire: (name, ttl) => provider.lock({ name, atMost: ttl }),
      release: (name) => provider.unlock(name),
      close: async () => redis.disconnect(),
    };
  },
};
