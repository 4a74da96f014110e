import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { Redis } from 'ioredis';
import { RedisProcess } from '../../tools/redis-server.js';
import { LockClient } from '../support/lock-client.js';
import type { LockDialect } from '../../lib/index.js';

/** One Redis of a test file, as the other side sees it and as we do, empty for every test. */
export class Sides {
  redis!: RedisProcess;
  theirs!: Redis;
  us!: LockClient;

  constructor() {
    beforeAll(async () => {
      this.redis = await RedisProcess.start();
      this.theirs = new Redis(this.redis.url);
    });
    afterEach(async () => {
      await this.us.close();
      await this.theirs.flushall();
    });
    afterAll(async () => {
      this.theirs.disconnect();
      await this.redis.stop();
    });
  }

  /** How often a command has come, to run by itself or in a script. */
  async calls(command: string): Promise<number> {
    const stats = await this.theirs.info('commandstats');
    return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
  }

  /** We, in a dialect. */
  start(dialect: LockDialect): LockClient {
    return (this.us = new LockClient({ redis: this.redis.url, dialect }));
  }
}
