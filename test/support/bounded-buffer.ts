import type { Redis } from 'ioredis';
import { isLockError } from '../../lib/engine/errors/index.js';
import { fencedRedis } from '../../lib/engine/fencing/fenced-redis.js';
import type { Lease } from '../../lib/engine/client/leases/lease.js';
import type { SingleLease } from '../../lib/engine/client/leases/single-lease.js';
import { Condition } from '../../lib/nest/services/condition.js';
import type { LockProcess } from './lock-process.js';

/** What the lock protects: who was put, who waits to be taken, who was taken. */
export interface Buffer {
  readonly put: number;
  readonly items: readonly number[];
  readonly taken: readonly number[];
}

const EMPTY: Buffer = { put: 0, items: [], taken: [] };
const [KEY, CAPACITY] = ['buffer', 3];

export async function readBuffer(redis: Redis): Promise<Buffer> {
  return JSON.parse((await redis.get(KEY)) ?? JSON.stringify(EMPTY)) as Buffer;
}

/** Producers and consumers of one process, until `count` items were put and taken. */
export async function runBuffer(client: LockProcess, redis: Redis, count: number): Promise<void> {
  /** One change under the lock, once `ready`; tells the others on the other condition. */
  const change = async (
    awaited: string,
    told: string,
    ready: (state: Buffer) => boolean,
    next: (state: Buffer) => Buffer,
  ): Promise<boolean> => {
    const lease = (await client.acquire(KEY, { ttl: 1_000, wait: 60_000 })) as SingleLease & Lease;
    try {
      const on = (name: string): Condition => new Condition(client.locks.conditions, lease, name);
      let state = await readBuffer(redis);
      // A holder that is killed tells nobody: nobody waits for ever.
      while (state.taken.length < count && !ready(state)) {
        await on(awaited).await({ wait: 2_000 });
        state = await readBuffer(redis);
      }
      if (state.taken.length >= count) {
        await on(awaited).signalAll();
        await on(told).signalAll();
        return false;
      }
      await fencedRedis(redis, lease).set(KEY, JSON.stringify(next(state)));
      await on(told).signal();
      return true;
    } finally {
      await lease.release();
    }
  };
  const produce = (): Promise<boolean> =>
    change(
      'not full',
      'not empty',
      ({ items, put }) => items.length < CAPACITY && put < count,
      (state) => ({ ...state, put: state.put + 1, items: [...state.items, state.put] }),
    );
  const consume = (): Promise<boolean> =>
    change(
      'not empty',
      'not full',
      ({ items }) => items.length > 0,
      ({ items: [first, ...rest], ...state }) => ({
        ...state,
        items: rest,
        taken: [...state.taken, first!],
      }),
    );
  const repeat = async (step: () => Promise<boolean>): Promise<void> => {
    for (let more = true; more;) {
      // A lease that was lost while the process was frozen: begin again.
      more = await step().catch((error: unknown) => {
        if (isLockError(error)) return true;
        throw error;
      });
    }
  };
  await Promise.all([produce, consume, produce, consume].map(repeat));
}
