import { Injectable } from '@nestjs/common';
import { Redis } from 'ioredis';

/** Compares and writes in one step: between two, a stale write could slip in. In SQL: `UPDATE … WHERE token <= $1`. */
const WRITE = `
local newest = tonumber(redis.call('HGET', KEYS[1], 'token') or '0')
if tonumber(ARGV[1]) < newest then return 0 end
redis.call('HSET', KEYS[1], 'token', ARGV[1], 'total', ARGV[2])
return 1`;

/** A store that remembers the newest fencing token and refuses whoever comes with an older one. */
@Injectable()
export class Ledger {
  constructor(private readonly redis: Redis) {}

  async total(id: string): Promise<string | null> {
    return this.redis.hget(`ledger:${id}`, 'total');
  }

  /** @throws StaleWriteError if a later holder of the lock has written already. */
  async write(id: string, total: string, fencingToken: number): Promise<void> {
    const written = await this.redis.eval(WRITE, 1, `ledger:${id}`, fencingToken, total);
    if (written !== 1) throw new StaleWriteError(id);
  }
}

export class StaleWriteError extends Error {
  constructor(id: string) {
    super(
      `The ledger of ${id} has an entry by a later holder of its lock: this one came too late.`,
    );
    this.name = 'StaleWriteError';
  }
}
