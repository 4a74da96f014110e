import { Injectable } from '@nestjs/common';
// #region dialects
import { Locked, LockService } from 'nest-redis-lock';

// #endregion
const paid: string[] = [];

// #region dialects
@Injectable()
export class InvoiceService {
  constructor(private readonly locks: LockService) {}

  @Locked('invoice:<id>', { dialect: 'redis-py' }) // a Python worker: client.lock(f"invoice:{id}", timeout=30)
  async pay(id: string): Promise<number> {
    return paid.push(id);
  }

  /** A PHP shop: Cache::lock('stock', 30), with its own prefixes. */
  async restock(): Promise<number> {
    const dialect = { name: 'laravel', prefix: 'shop-database-shop-cache-' } as const;
    return this.locks.withLock('stock', { dialect }, (lease) => lease.fencingToken);
  }
}
// #endregion
