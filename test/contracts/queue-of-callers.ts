import type { Lease } from '../../lib/engine/client/leases/lease.js';
import type { AcquireOptions } from '../../lib/engine/options/index.js';
import { expectGrowing } from '../support/growing.js';
import { later } from '../support/later.js';
import { expectNothingLeft } from '../support/nothing-left.js';
import type { LockingProcess, World, Wrap } from '../support/world.js';

export type Caller = readonly [process: LockingProcess, name: string, options?: AcquireOptions];

/** What a caller does under the lock. */
export type Work = (name: string, lease: Lease) => unknown;

/** A process in which each caller has its own entry. */
export function fair(world: World, wrap?: Wrap): Promise<LockingProcess> {
  return world.process({ fairness: 'strict' }, wrap);
}

/** What comes of callers who queue one behind the other, while somebody else has the lock. */
export class QueueOfCallers {
  readonly served: string[] = [];
  readonly all: Promise<void>[] = [];
  readonly #tokens: number[] = [];

  private constructor(
    private readonly world: World,
    private readonly before: LockingProcess,
    private readonly lease: Lease,
  ) {}

  static async in(world: World): Promise<QueueOfCallers> {
    const before = await fair(world);
    return new QueueOfCallers(world, before, await before.acquire());
  }

  /** Each comes when the one before is in the queue. */
  async join(callers: readonly Caller[], work?: Work): Promise<void> {
    for (const [process, name, options = {}] of callers) {
      const call = async (): Promise<void> => {
        const lease = await process.acquire(options);
        this.served.push(name);
        if (options.fencing !== false && options.mode !== 'shared') {
          this.#tokens.push(lease.fencingToken);
        }
        await work?.(name, lease);
        await lease.release();
      };
      this.all.push(later(call()));
      await this.world.waiting(this.all.length);
    }
  }

  /** They have their turns from now on. */
  async begin(): Promise<void> {
    await this.lease.release();
  }

  async end(): Promise<void> {
    await this.world.finish(Promise.all(this.all));
    expectGrowing(this.#tokens);
  }

  /** All of it. */
  async run(callers: readonly Caller[], work?: Work): Promise<void> {
    await this.join(callers, work);
    await this.begin();
    await this.end();
  }

  /** Nor by who had the lock before them. */
  async expectNothingLeft(...by: LockingProcess[]): Promise<void> {
    await expectNothingLeft(this.world, this.before, ...by);
  }
}
