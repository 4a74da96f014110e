import { Injectable } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { fencedRedis, type Lease, LockService } from 'nest-redis-lock';

interface State {
  readonly items: readonly string[];
}

/**
 * A queue of bounded length that any number of replicas fill and empty: who finds it full waits until it is not
 * full, who finds it empty until it is not empty. The textbook's bounded buffer, over processes.
 */
@Injectable()
export class BoundedBuffer {
  readonly #key = 'bank-demo:orders';

  constructor(
    private readonly locks: LockService,
    private readonly redis: Redis,
    private readonly capacity: number,
  ) {}

  put(item: string): Promise<void> {
    return this.locks.withLock('orders', async (lease) => {
      const notFull = this.locks.condition(lease, 'not full');
      let items = await this.#items();
      while (items.length >= this.capacity) {
        await notFull.await();
        items = await this.#items();
      }
      await this.#write({ items: [...items, item] }, lease);
      await this.locks.condition(lease, 'not empty').signal();
    });
  }

  take(): Promise<string> {
    return this.locks.withLock('orders', async (lease) => {
      const notEmpty = this.locks.condition(lease, 'not empty');
      let items = await this.#items();
      while (items.length === 0) {
        await notEmpty.await();
        items = await this.#items();
      }
      const [first, ...rest] = items as [string, ...string[]];
      await this.#write({ items: rest }, lease);
      await this.locks.condition(lease, 'not full').signal();
      return first;
    });
  }

  async #items(): Promise<readonly string[]> {
    const state = await this.redis.get(this.#key);
    return state === null ? [] : (JSON.parse(state) as State).items;
  }

  /** Guarded: what an older holder still writes is refused. */
  async #write(state: State, lease: Lease): Promise<void> {
    await fencedRedis(this.redis, lease).set(this.#key, JSON.stringify(state));
  }
}
