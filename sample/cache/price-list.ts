import { Injectable } from '@nestjs/common';
import { Redis } from 'ioredis';
import { Locked } from 'nest-redis-lock';

/** What shops show: a list in the cache, of two keys that belong together. */
export interface Prices {
  readonly version: string;
  readonly price: string;
}

@Injectable()
export class PriceList {
  constructor(private readonly redis: Redis) {}

  /** Any number at a time, on all replicas; never beside a refresh. */
  @Locked('price-list', { mode: 'shared' })
  async read(): Promise<Prices | undefined> {
    return this.readUnlocked();
  }

  /** Alone: who reads sees the old list or the new one. Readers that come meanwhile queue behind it. */
  @Locked('price-list')
  async refresh(version: number): Promise<void> {
    await this.redis.set('prices:version', `version ${version}`);
    await this.redis.set('prices:price', `price of version ${version}`);
  }

  /** Wrong beside a refresh: sees half of it. */
  async readUnlocked(): Promise<Prices | undefined> {
    const version = await this.redis.get('prices:version');
    const price = await this.redis.get('prices:price');
    return version !== null && price !== null ? { version, price } : undefined;
  }
}
