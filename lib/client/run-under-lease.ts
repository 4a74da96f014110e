import { LockOptionsError } from '../errors/index.js';
import type { BaseLease, Lease, OpenSection } from './lease.js';

/** Work to be done under a lease. */
export type Work<T> = (lease: Lease) => T | PromiseLike<T>;

/** What happens when a body succeeds after its lease was lost. */
export type OnLost = 'throw' | 'ignore' | undefined;

/**
 * A body under a lease: whatever it runs is inside the lease's section. When it has come to an end, the section is closed
 * and the lease given back, once. Without a lease it runs all the same, and there is nothing to give back.
 */
export class LeasedBody {
  readonly #section: OpenSection | undefined;
  #ended = false;

  constructor(
    private readonly lease: BaseLease | undefined,
    private readonly onLost: OnLost,
  ) {
    this.#section = lease?.openSection();
  }

  /** A stretch of the body. */
  run<T>(work: () => T): T {
    return this.#section ? this.#section.run(work) : work();
  }

  /**
   * The body succeeded.
   * @throws LeaseLostError if its lease was over before, unless that is to be ignored.
   */
  async complete(): Promise<void> {
    if (this.#end()) await this.lease!.finish(this.onLost);
  }

  /** The body failed, or nobody wants its end. */
  async breakOff(): Promise<void> {
    if (this.#end()) await this.lease!.release();
  }

  /** Whether there is a lease to give back. */
  #end(): boolean {
    const first = !this.#ended;
    this.#ended = true;
    this.#section?.close();
    return first && this.lease !== undefined;
  }
}

/**
 * Runs `work` as a body that ends with its Promise, or later where `endOf` its result says so. A running body is never
 * abandoned; its error always wins.
 */
export async function runUnderLease<T>(
  body: LeasedBody,
  work: () => T | PromiseLike<T>,
  endOf?: (result: T) => Promise<void> | undefined,
): Promise<T> {
  let result: T;
  let open: Promise<void> | undefined;
  try {
    result = await body.run(work);
    open = endOf?.(result);
  } catch (error) {
    await body.breakOff();
    throw error;
  }
  if (open) void open.then(() => body.breakOff());
  else await body.complete();
  return result;
}

/** Runs `work` under the lease that comes. A success after the lease was lost is a `LeaseLostError`, unless `onLost` is 'ignore'. */
export async function withLease<T>(
  coming: Promise<Lease>,
  work: Work<T>,
  onLost?: OnLost,
): Promise<T> {
  const lease = (await coming) as BaseLease;
  return runUnderLease(new LeasedBody(lease, onLost), () => {
    lease.assertHeld();
    return refuseStream(work(lease), lease.key);
  });
}

/**
 * The result of a body that ran under a lock.
 * @throws LockOptionsError if it is a stream: that would go on after the lock is given back.
 */
function refuseStream<T>(result: T, key: string): T {
  const isStream =
    typeof result === 'object' &&
    result !== null &&
    (Symbol.asyncIterator in result || 'subscribe' in result);
  if (!isStream) return result;
  throw new LockOptionsError(
    `The body under lock "${key}" returned a stream, which would run unlocked: consume it inside, or use @Locked.`,
  );
}
