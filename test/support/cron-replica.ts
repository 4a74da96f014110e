import { Injectable, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Cron, ScheduleModule } from '@nestjs/schedule';
import { appendFileSync, existsSync } from 'node:fs';
import { type Duration, Locked, RedisLockModule } from '../../lib/index.js';
import { monotonic } from './monotonic.js';

export interface CronReplicaOptions {
  readonly redis: string;
  /** Each has a lock of its own. */
  readonly jobs: readonly string[];
  /** A job's turn comes every so many seconds of this replica's clock. */
  readonly every: number;
  readonly minHold: Duration;
  /** Where each replica writes a line for each turn that came, and for each that it ran or skipped: what, job, turn, pid, time. */
  readonly history: string;
}

/** Jobs whose turns come on every replica by its own clock, and which are to run on one; those named `failing-…` fail. */
export async function start(options: CronReplicaOptions): Promise<void> {
  const { redis, jobs, every, minHold, history } = options;

  function jobNamed(name: string): Type {
    function note(what: string): void {
      const turn = Math.round(Date.now() / (every * 1_000));
      appendFileSync(history, `${what} ${name} ${turn} ${process.pid} ${monotonic()}\n`);
    }

    @Injectable()
    class Job {
      @Cron(`*/${every} * * * * *`)
      turn(): void {
        note('turn');
      }

      @Locked(name, { wait: 0, onBusy: () => note('skip'), minHold })
      @Cron(`*/${every} * * * * *`)
      async run(): Promise<void> {
        note('run');
        if (name.startsWith('failing')) throw new Error('The job failed.');
        if (existsSync(`${history}.stay`)) await new Promise(() => {}); // it stays for ever
      }
    }
    return Job;
  }

  @Module({
    imports: [
      ScheduleModule.forRoot(),
      RedisLockModule.forRoot({ redis, shutdownGrace: 0 }), // a job that stays loses its lock at once
    ],
    providers: jobs.map(jobNamed),
  })
  class App {}

  const app = await NestFactory.createApplicationContext(App, { logger: false });
  app.enableShutdownHooks();
}
