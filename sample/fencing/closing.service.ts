import { Injectable } from '@nestjs/common';
import { CurrentLease, type Lease, Locked } from 'nest-redis-lock';
import { Ledger } from './ledger.js';

@Injectable()
export class ClosingService {
  constructor(private readonly ledger: Ledger) {}

  /**
   * Writes the day's total under the lock. `sum` may take longer than the lease (here it is not
   * renewed, as if the process were suspended): then somebody else has the lock, and may have written.
   */
  @Locked('ledger:<day>', { ttl: '1s', renew: false })
  async close(
    day: string,
    sum: () => Promise<string>,
    @CurrentLease() lease?: Lease,
  ): Promise<void> {
    const total = await sum();
    await this.ledger.write(day, total, lease!);
  }
}
