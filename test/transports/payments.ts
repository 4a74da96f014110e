import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import type { Job } from 'bullmq';
import { Locked } from '../../lib/index.js';

/** Why payments failed. */
export const failed: unknown[] = [];

/** A worker that locks the account of each payment, and does not wait. */
@Processor('payments')
export class Payments extends WorkerHost {
  @Locked('account:<job.data.account>', { wait: 0 })
  async process(job: Job<{ account: string }>): Promise<string> {
    return job.data.account;
  }

  @OnWorkerEvent('failed')
  failed(_: Job, error: Error): void {
    failed.push(error);
  }
}
