import { Injectable } from '@nestjs/common';
// #region permits
import { Locked, LockService } from 'nest-redis-lock';

// #endregion
const created: string[] = [];

// #region permits
@Injectable()
export class ReportService {
  constructor(private readonly locks: LockService) {}

  @Locked('report:<tenant>', { permits: 5 }) // five at a time for each tenant, over all replicas
  async create(tenant: string): Promise<number> {
    return created.push(tenant);
  }

  /** A semaphore in your own hands: acquire(), tryAcquire(), withPermit(). */
  async createLarge(tenant: string): Promise<number> {
    const workers = this.locks.semaphore('report-workers', { permits: 10 });
    return workers.withPermit({ count: 4, wait: '1m' }, () => created.push(tenant)); // four or none
  }
}
// #endregion
