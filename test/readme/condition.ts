import { Injectable } from '@nestjs/common';
// #region condition
import { type Lease, LockService } from 'nest-redis-lock';

// #endregion
interface Job {
  readonly id: number;
}

interface Jobs {
  count(): Promise<number>;
  push(job: Job, fence: number): Promise<void>;
  shift(fence: number): Promise<Job>;
}
// #region condition
@Injectable()
export class BoundedQueue {
  constructor(
    private readonly locks: LockService,
    private readonly jobs: Jobs,
  ) {}

  put(job: Job): Promise<void> {
    return this.locks.withLock('jobs', async (lease) => {
      const notFull = this.locks.condition(lease, 'not full');
      while ((await this.jobs.count()) >= 10) await notFull.await(); // gives the lock back meanwhile
      await this.jobs.push(job, lease.fencingToken);
      await this.locks.condition(lease, 'not empty').signal(); // wakes one, when this lock is given back
    });
  }

  take(): Promise<Job> {
    return this.locks.withLock('jobs', async (lease: Lease) => {
      const notEmpty = this.locks.condition(lease, 'not empty');
      while ((await this.jobs.count()) === 0) await notEmpty.await();
      const job = await this.jobs.shift(lease.fencingToken);
      await this.locks.condition(lease, 'not full').signal();
      return job;
    });
  }
}
// #endregion
