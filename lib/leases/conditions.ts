import { LockOptionsError } from '../errors/index.js';
import type { LockPrimitive } from '../locks/lock-primitive.js';
import { type Awaiting, ConditionWait } from './condition-wait.js';
import type { Holding } from './holding.js';
import type { Holdings } from './holdings.js';
import type { LineHost } from './line-host.js';
import { SingleLease } from './single-lease.js';

/** All holders of this process who gave their lock back until a condition is signalled. */
export class Conditions {
  readonly #waits = new Set<ConditionWait>();
  #refusal: ((key: string) => unknown) | undefined;

  constructor(
    private readonly lock: LockPrimitive,
    private readonly host: LineHost,
    private readonly holdings: Holdings,
  ) {}

  get size(): number {
    return this.#waits.size;
  }

  /** Gives the lock back, and resolves when it is held again: to whether it was signalled. */
  async await(lease: SingleLease, awaiting: Awaiting): Promise<boolean> {
    awaiting.signal?.throwIfAborted();
    lease.assertHeld();
    if (this.#refusal) throw this.#refusal(lease.key);
    const holding = SingleLease.holdingOf(lease);
    if (holding.claim.share) {
      throw new LockOptionsError(
        `Lock "${lease.key}" is shared: a condition is awaited by who holds its lock alone.`,
      );
    }
    refuseForeign(holding);
    this.holdings.park(holding);
    const wait = new ConditionWait(this.host, this.holdings, holding, awaiting);
    this.#waits.add(wait);
    try {
      return await wait.woken;
    } catch (error) {
      if (holding.state === 'parked') holding.state = 'released';
      throw error;
    } finally {
      this.#waits.delete(wait);
    }
  }

  /** Wakes so many at most. Resolves to how many were woken. */
  async signal(lease: SingleLease, condition: string, most: number): Promise<number> {
    lease.assertHeld();
    const holding = SingleLease.holdingOf(lease);
    refuseForeign(holding);
    const woken = await this.lock.signal(holding.claim, condition, most);
    if (woken >= 0) return woken;
    this.holdings.verify(holding);
    throw lease.lossError();
  }

  /** Nobody awaits anything any more; each is told why, and whoever comes later is refused and keeps the lock. */
  turnAway(reason: (key: string) => unknown): void {
    this.#refusal = reason;
    for (const wait of this.#waits) wait.turnAway(reason(wait.key));
  }
}

/** Who waits for a lock in another format is in no queue that a signal could reach. */
function refuseForeign({ claim: { key, dialect } }: Holding): void {
  if (!dialect) return;
  throw new LockOptionsError(
    `Lock "${key}" is taken in dialect "${dialect.name}", which has no conditions.`,
  );
}
