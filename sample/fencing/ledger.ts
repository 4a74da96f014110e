import { Injectable } from '@nestjs/common';
import { Redis } from 'ioredis';
import { fencedRedis, type Lease } from 'nest-redis-lock';

/** A store that remembers the newest fencing token and refuses whoever comes with an older one. */
@Injectable()
export class Ledger {
  constructor(private readonly redis: Redis) {}

  async total(id: string): Promise<string | null> {
    return this.redis.hget(`ledger:${id}`, 'total');
  }

  /** @throws StaleFencingTokenError if a later holder of the lock has written already. */
  async write(id: string, total: string, lease: Lease): Promise<void> {
    await fencedRedis(this.redis, lease).hset(`ledger:${id}`, { total });
  }
}
