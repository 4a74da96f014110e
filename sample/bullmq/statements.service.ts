import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { CurrentLease, type Lease, Locked, LockService } from 'nest-redis-lock';

/** A job, with the lease of its account. Its text is as good as the lock: keep it out of logs. */
export interface Statement {
  readonly account: string;
  readonly pages: number;
  /** How many pages are printed. */
  readonly printed: number;
  readonly lease: string;
}

@Injectable()
export class StatementsService {
  constructor(
    @InjectQueue('statements') private readonly queue: Queue<Statement>,
    private readonly locks: LockService,
  ) {}

  /** Returns when the job is queued. The account stays locked until its statement is printed, wherever that is. */
  @Locked('account:<account>')
  async order(account: string, pages: number, @CurrentLease() lease?: Lease): Promise<void> {
    await lease!.extend('10m'); // so long a job may wait for a worker; so long the lock lasts if one dies
    const job = { account, pages, printed: 0, lease: await lease!.handOver() };
    try {
      await this.queue.add('statement', job);
    } catch (error) {
      const left = await this.locks.restore(job.lease); // no worker will
      await left.release();
      throw error;
    }
  }
}
