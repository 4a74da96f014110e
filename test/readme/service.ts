import { Injectable } from '@nestjs/common';
// #region service
import { type Lease, lockKey, LockService } from 'nest-redis-lock';
// #endregion
import { balances } from './database.js';

// #region service

@Injectable()
export class TransferService {
  constructor(private readonly locks: LockService) {}

  /** Runs a function under the lock: the usual way. */
  deposit(id: string, amount: number): Promise<void> {
    return this.locks.withLock(lockKey`account:${id}`, { wait: '5s' }, async () => {
      await balances.write(id, (await balances.read(id)) + amount);
    });
  }

  /** A lease in your own hands: `await using`, or release() in a finally. */
  async audit(id: string): Promise<number> {
    const lease: Lease = await this.locks.acquire(lockKey`account:${id}`);
    try {
      return await balances.read(id);
    } finally {
      await lease.release();
    }
  }

  /** Asks once. */
  async auditIfIdle(id: string): Promise<number | 'busy'> {
    const lease = await this.locks.tryAcquire(lockKey`account:${id}`);
    if (!lease) return 'busy';
    await using _ = lease;
    return balances.read(id);
  }
}
// #endregion
