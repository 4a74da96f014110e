import { Injectable } from '@nestjs/common';
import { type ChainableCommander, Redis } from 'ioredis';
import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout } from 'node:timers/promises';

/**
 * A stand-in for a database whose transactions overlap: MULTI collects what is written, EXEC commits it. The sample
 * `postgres/` has a real one. It has a single session, where a commit that comes too late does no harm.
 */
@Injectable()
export class Database {
  readonly #transaction = new AsyncLocalStorage<ChainableCommander>();

  constructor(private readonly redis: Redis) {}

  async read(key: string): Promise<number> {
    return Number(await this.redis.get(key));
  }

  /** Seen by others after the commit. */
  write(key: string, value: number): void {
    const transaction = this.#transaction.getStore();
    if (!transaction) throw new Error('There is no transaction to write in.');
    transaction.set(key, value);
  }

  /** Commits when `work` succeeds; what it has written is dropped when it throws. */
  async transaction<T>(work: () => Promise<T>): Promise<T> {
    const transaction = this.redis.multi();
    const result = await this.#transaction.run(transaction, work);
    await setTimeout(10); // a commit reaches the disk, and replicas
    await transaction.exec();
    return result;
  }
}
