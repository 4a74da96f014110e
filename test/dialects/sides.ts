import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { Redis } from 'ioredis';
import { RedisProcess } from '../../tools/redis-server.js';
import { LockClient } from '../support/lock-client.js';
import type { LockDialect, RedisLockOptions } from '../../lib/index.js';
import type { Clock } from '../../lib/options/index.js';
import type { Peer, PeerClient } from './peers/peer.js';

/** One Redis of a test file, as the other side sees it and as we do, empty for every test. */
export class Sides {
  redis!: RedisProcess;
  theirs!: Redis;
  #us: LockClient | undefined;
  readonly #closing: (() => unknown)[] = [];

  constructor() {
    beforeAll(async () => {
      this.redis = await RedisProcess.start();
      this.theirs = new Redis(this.redis.url);
    });
    afterEach(async () => {
      for (const close of this.#closing.splice(0).reverse()) await close();
      await this.theirs.flushall();
    });
    afterAll(async () => {
      this.theirs.disconnect();
      await this.redis.stop();
    });
  }

  get us(): LockClient {
    return this.#us!;
  }

  set us(client: LockClient) {
    this.#us = this.closing(client, (us) => us.close());
  }

  /** One that is closed after the test, before those that came earlier. */
  closing<One>(one: One, close: (one: One) => unknown): One {
    this.#closing.push(() => close(one));
    return one;
  }

  /** A process of ours. */
  client(options: RedisLockOptions, clock?: Clock): LockClient {
    const client = new LockClient({ redis: this.redis.url, ...options }, undefined, clock);
    return this.closing(client, (one) => one.close());
  }

  /** A client of another library. */
  async peer(peer: Peer): Promise<PeerClient> {
    return this.closing(await peer.connect(this.redis.url), (one) => one.close());
  }

  /** One more connection of theirs. */
  another(): Redis {
    return this.closing(this.theirs.duplicate(), (one) => one.disconnect());
  }

  /** How often a command has come, to run by itself or in a script. */
  async calls(command: string): Promise<number> {
    const stats = await this.theirs.info('commandstats');
    return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
  }

  /** We, in a dialect. */
  start(dialect: LockDialect, clock?: Clock): LockClient {
    return (this.us = new LockClient({ redis: this.redis.url, dialect }, undefined, clock));
  }
}
