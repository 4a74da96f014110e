import { afterEach, beforeEach } from '@jest/globals';
import { Redis } from 'ioredis';
import type { LockStore } from '../../lib/engine/locks/lock-store.js';
import type { RedisLockOptions } from '../../lib/index.js';
import { RedisProcess } from '../../tools/redis-server.js';
import { LockProcess } from '../support/lock-process.js';
import { Observer } from '../support/observer.js';

/** A Redis with other clients than those of locks, for each test. */
export class Scene {
  redis!: RedisProcess;
  observer!: Observer;
  readonly #closing: (() => unknown)[] = [];

  async start(): Promise<void> {
    this.redis = await RedisProcess.start();
    this.observer = new Observer(this.redis.url);
    this.#closing.push(() => this.observer.close());
  }

  /** A process with locks; opened, so that its inbox is heard. */
  async process(
    options: RedisLockOptions = {},
    wrap?: (store: LockStore) => LockStore,
  ): Promise<LockProcess> {
    const process = new LockProcess({ redis: this.redis.url, ...options }, wrap);
    this.#closing.push(() => process.close());
    await process.locks.open();
    return process;
  }

  /** Somebody who may publish, subscribe and psubscribe everywhere, and reads no key. */
  async publisher(): Promise<Redis> {
    const rights = ['resetkeys', 'allchannels', '-@all', '+@pubsub', '+@connection'];
    await this.observer.redis.call('ACL', 'SETUSER', 'hostile', 'on', '>pw', ...rights);
    const credentials = { username: 'hostile', password: 'pw' };
    const hostile = new Redis(this.redis.port, { ...credentials, enableReadyCheck: false });
    this.#closing.push(() => hostile.disconnect());
    return hostile;
  }

  async stop(): Promise<void> {
    try {
      for (const close of this.#closing.splice(0).reverse()) await close();
    } finally {
      await this.redis.stop();
    }
  }
}

/** The scene of each test of a file. */
export function useScene(): Scene {
  const scene = new Scene();
  beforeEach(() => scene.start());
  afterEach(() => scene.stop());
  return scene;
}
