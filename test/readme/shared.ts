import { Injectable } from '@nestjs/common';
// #region shared
import { Locked, lockKey, LockService } from 'nest-redis-lock';

// #endregion
const catalogues = new Map<string, string[]>();
export const indexed: string[] = [];
const index = async (shop: string): Promise<void> => void indexed.push(shop);

// #region shared
@Injectable()
export class CatalogueService {
  constructor(private readonly locks: LockService) {}

  @Locked('catalogue:<shop>', { mode: 'shared' }) // any number of readers, on all replicas
  async list(shop: string): Promise<string[]> {
    return catalogues.get(shop) ?? [];
  }

  @Locked('catalogue:<shop>') // alone: no reader, no other writer
  async replace(shop: string, items: string[]): Promise<void> {
    catalogues.set(shop, items);
  }

  /** Writes, then reads what it has written: nobody writes in between. */
  async replaceAndIndex(shop: string, items: string[]): Promise<void> {
    await this.locks.withLock(lockKey`catalogue:${shop}`, async (lease) => {
      await this.replace(shop, items);
      await lease.downgrade(); // from here on others may read, too
      await index(shop);
    });
  }
}
// #endregion
