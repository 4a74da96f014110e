// The cycle of a free lock, acquire and release, of bare ioredis and of this library.
import { randomUUID } from 'node:crypto';
import { NestFactory } from '@nestjs/core';
import { Redis } from 'ioredis';
import { LockService, RedisLockModule } from '../../lib/index.js';

export const COMPARE_AND_DELETE =
  "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

export interface Cycles {
  /** With a new key each time. */
  run(): Promise<unknown>;
  close(): Promise<unknown>;
}

async function raw(url: string): Promise<Cycles> {
  const client = new Redis(url);
  const sha = (await client.script('LOAD', COMPARE_AND_DELETE)) as string;
  let nth = 0;
  return {
    run: async () => {
      const [key, id] = [`raw:${(nth += 1)}`, randomUUID()];
      await client.set(key, id, 'PX', 30_000, 'NX');
      await client.evalsha(sha, 1, key, id);
    },
    close: () => client.quit(),
  };
}

async function ours(url: string): Promise<Cycles> {
  const root = { module: class Root {}, imports: [RedisLockModule.forRoot({ redis: url })] };
  const app = await NestFactory.createApplicationContext(root, { logger: false });
  const locks = app.get(LockService);
  let nth = 0;
  return {
    run: async () => {
      const lease = await locks.acquire(`k:${(nth += 1)}`);
      await lease.release();
    },
    close: () => app.close(),
  };
}

export const CYCLES = { raw, 'nest-redis-lock': ours };
