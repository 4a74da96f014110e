import { Processor } from '@nestjs/bullmq';
import type { Job } from 'bullmq';
import { Redis } from 'ioredis';
import { Locked } from 'nest-redis-lock';
import { LockedWorker } from './locked-worker.js';

export interface Posting {
  readonly account: string;
  readonly amount: number;
}

@Processor('postings')
export class PostingsWorker extends LockedWorker {
  constructor(private readonly redis: Redis) {
    super();
  }

  /** `wait: 0`: a job that finds its account locked leaves the worker to other jobs, and comes again later. */
  @Locked('account:<job.data.account>', { wait: 0 })
  async handle(job: Job<Posting>): Promise<void> {
    const { account, amount } = job.data;
    const balance = Number(await this.redis.get(`balance:${account}`));
    await this.redis.set(`balance:${account}`, balance + amount);
  }
}
