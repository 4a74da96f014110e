import { Processor } from '@nestjs/bullmq';
import { DelayedError, type Job } from 'bullmq';
import { Redis } from 'ioredis';
import { type Lease, LockService } from 'nest-redis-lock';
import { LockedWorker } from './locked-worker.js';
import { Printer } from './printer.js';
import type { Statement } from './statements.service.js';

@Processor('statements')
export class StatementsWorker extends LockedWorker {
  constructor(
    private readonly locks: LockService,
    private readonly redis: Redis,
    private readonly printer: Printer,
  ) {
    super();
  }

  /**
   * All pages show the same balance, also where a deploy comes between them: the account is locked all the time. A worker
   * that dies loses the lease: its job then fails here, by a LeaseLostError.
   */
  async handle(job: Job<Statement>): Promise<void> {
    const { account, pages, printed } = job.data;
    await using lease = await this.locks.restore(job.data.lease);
    const { fencingToken } = lease;
    for (let page = printed + 1; page <= pages; page += 1) {
      if (this.worker.isPaused()) await this.#leaveToTheNext(job, page - 1, lease);
      lease.assertHeld();
      const balance = Number(await this.redis.get(`balance:${account}`));
      await this.printer.print(account, { page, balance, fencingToken });
    }
  }

  /** A deploy ends this process, and neither the job nor its lock: the next worker goes on with both. */
  async #leaveToTheNext(job: Job<Statement>, printed: number, lease: Lease): Promise<never> {
    await lease.extend('10m');
    await job.updateData({ ...job.data, printed, lease: await lease.handOver() });
    await job.moveToDelayed(Date.now(), job.token);
    throw new DelayedError();
  }
}
