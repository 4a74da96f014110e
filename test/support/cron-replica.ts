import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Cron, ScheduleModule } from '@nestjs/schedule';
import { appendFileSync, existsSync } from 'node:fs';
import { type Duration, Locked, RedisLockModule } from '../../lib/index.js';
import { monotonic } from './monotonic.js';

export interface CronReplicaOptions {
  readonly redis: string;
  /** The job's turn comes every so many seconds of this replica's clock. */
  readonly every: number;
  readonly minHold: Duration;
  /** Where each replica writes a line for each turn that came, and for each that it ran or skipped: what, turn, pid, time. */
  readonly history: string;
  /** How the job goes; it stays where it is while there is a file `<history>.stay`. */
  readonly job: 'fast' | 'failing';
}

/** A job whose turn comes on every replica by its own clock, and which is to run on one. */
export async function start(options: CronReplicaOptions): Promise<void> {
  const { redis, every, minHold, history, job } = options;

  function note(what: string): void {
    const turn = Math.round(Date.now() / (every * 1_000));
    appendFileSync(history, `${what} ${turn} ${process.pid} ${monotonic()}\n`);
  }

  @Injectable()
  class Jobs {
    @Cron(`*/${every} * * * * *`)
    turn(): void {
      note('turn');
    }

    @Locked('job', { wait: 0, onBusy: () => note('skip'), minHold })
    @Cron(`*/${every} * * * * *`)
    async run(): Promise<void> {
      note('run');
      if (job === 'failing') throw new Error('The job failed.');
      if (existsSync(`${history}.stay`)) await new Promise(() => {});
    }
  }

  @Module({
    imports: [
      ScheduleModule.forRoot(),
      RedisLockModule.forRoot({ redis, shutdownGrace: 0 }), // a job that stays loses its lock at once
    ],
    providers: [Jobs],
  })
  class App {}

  const app = await NestFactory.createApplicationContext(App, { logger: false });
  app.enableShutdownHooks();
}
