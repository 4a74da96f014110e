import { WorkerHost } from '@nestjs/bullmq';
import type { OnModuleDestroy } from '@nestjs/common';
import { DelayedError, type Job } from 'bullmq';
import { LockNotAcquiredError, LockShutdownError } from 'nest-redis-lock';

/** A worker whose jobs run under locks: a job that gets none comes again, and has used up no attempt. */
export abstract class LockedWorker extends WorkerHost implements OnModuleDestroy {
  abstract handle(job: Job): Promise<unknown>;

  async process(job: Job, token?: string): Promise<unknown> {
    try {
      return await this.handle(job);
    } catch (error) {
      const busy = error instanceof LockNotAcquiredError || error instanceof LockShutdownError;
      if (!busy) throw error;
      await job.moveToDelayed(Date.now() + 1_000, token);
      throw new DelayedError();
    }
  }

  /** Asks for no further job from the first shutdown hook on. */
  async onModuleDestroy(): Promise<void> {
    await this.worker.pause(true);
  }
}
