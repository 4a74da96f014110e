import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Interval, ScheduleModule } from '@nestjs/schedule';
import { appendFileSync, existsSync } from 'node:fs';
import { CurrentLease, type Lease, Locked, RedisLockModule } from '../../lib/index.js';
import { monotonic } from './monotonic.js';
import { until } from './until.js';

export interface DrainingReplicaOptions {
  readonly redis: string;
  readonly ttl: number;
  readonly shutdownGrace: number;
  /** Which module is imported first. */
  readonly first: 'schedule' | 'locks';
  /** Where each replica writes a line for each body: what, pid, time; a body stays while there is no file `<history>.<pid>`. */
  readonly history: string;
}

/** A job that every replica wants to run again and again, one at a time. */
export async function start(options: DrainingReplicaOptions): Promise<void> {
  const { redis, ttl, shutdownGrace, first, history } = options;

  function note(what: 'begin' | 'end' | 'told'): void {
    appendFileSync(history, `${what} ${process.pid} ${monotonic()}\n`);
  }

  @Injectable()
  class Jobs {
    @Interval(10)
    @Locked('job', { onBusy: 'skip', wait: 0, onLost: 'ignore' })
    async run(@CurrentLease() lease?: Lease): Promise<void> {
      note('begin');
      lease!.signal.addEventListener('abort', () => note('told'));
      await until('it may go', () => existsSync(`${history}.${process.pid}`), 60_000);
      note('end');
    }
  }

  const modules = [
    ScheduleModule.forRoot(),
    RedisLockModule.forRoot({ redis, ttl, shutdownGrace }),
  ];

  @Module({ imports: first === 'schedule' ? modules : modules.reverse(), providers: [Jobs] })
  class App {}

  const app = await NestFactory.createApplicationContext(App, { logger: false });
  app.enableShutdownHooks();
}
