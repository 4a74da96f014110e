import { Injectable } from '@nestjs/common';
// #region handover
import { CurrentLease, type Lease, Locked, LockService } from 'nest-redis-lock';
// #endregion

/** Any queue: BullMQ, SQS, a table. */
@Injectable()
export class Queue {
  readonly jobs: Job[] = [];

  async add(job: Job): Promise<void> {
    this.jobs.push(job);
  }
}

export interface Job {
  readonly order: string;
  readonly lease: string;
}

export const shipped: string[] = [];

// #region handover

@Injectable()
export class ShippingService {
  constructor(
    private readonly locks: LockService,
    private readonly queue: Queue,
  ) {}

  /** A request: answers when the job is queued; the order stays locked until that is done. */
  @Locked('order:<order>')
  async ship(order: string, @CurrentLease() lease?: Lease): Promise<void> {
    await this.queue.add({ order, lease: await lease!.handOver() });
  }

  /** The queue's worker, in whatever process. */
  async work(job: Job): Promise<void> {
    await using lease = await this.locks.restore(job.lease); // the same token; renewed from here on
    shipped.push(`${job.order} ${lease.fencingToken}`);
  }
}
// #endregion
