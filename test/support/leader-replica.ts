import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { appendFileSync } from 'node:fs';
import { CurrentLease, LeaderOnly, type Lease, RedisLockModule } from '../../lib/index.js';
import { monotonic } from './monotonic.js';

export interface LeaderReplicaOptions {
  readonly redis: string;
  readonly ttl: number;
  /** Where each replica writes a line for each moment in which it leads: token, pid, time. */
  readonly history: string;
}

/** Notes again and again that it leads, as long as it does. */
export async function start({ redis, ttl, history }: LeaderReplicaOptions): Promise<void> {
  @Injectable()
  class Feed {
    @LeaderOnly('feed', { ttl })
    async pull(@CurrentLease() lease?: Lease): Promise<void> {
      const at = monotonic();
      lease!.assertHeld(); // at `at` it was held, or this throws
      appendFileSync(history, `${lease!.fencingToken} ${process.pid} ${at}\n`);
    }
  }

  @Module({ imports: [RedisLockModule.forRoot({ redis })], providers: [Feed] })
  class App {}

  const app = await NestFactory.createApplicationContext(App, { logger: false });
  app.enableShutdownHooks();
  const feed = app.get(Feed);
  const beat = setInterval(() => void feed.pull().catch(() => {}), 5);
  process.once('SIGTERM', () => clearInterval(beat));
}
