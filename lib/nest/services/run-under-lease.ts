import { LockOptionsError } from '../../engine/errors/index.js';
import type { BaseLease, Lease, OpenSection } from '../../engine/client/lease.js';

/** Work to be done under a lease. */
export type Work<T> = (lease: Lease) => T | PromiseLike<T>;

/** What happens when a body succeeds after its lease was lost. */
export type OnLost = 'throw' | 'ignore' | undefined;

/** What runs under a lease, and ends with a Promise. */
export interface Body<T> {
  /** Runs inside the lease's section. */
  run(lease: BaseLease): T | PromiseLike<T>;
  /** When the body ends, where that is later than its result. What it throws is the error of the body. */
  endOf?(result: T, lease: BaseLease): Promise<void> | undefined;
  /** What stands for its result where no lease came; without it, the error does. */
  withoutLease?(error: unknown): Promise<T>;
}

/**
 * Runs a body under the lease that comes, and gives that back at its end. A running body is never abandoned; its error
 * always wins. One function for the whole way: each further one would cost every call a promise and a turn.
 * @throws LeaseLostError if the body succeeded after its lease was lost, unless that is to be ignored.
 */
export async function runUnderLease<T>(
  coming: Promise<BaseLease>,
  body: Body<T>,
  onLost: OnLost,
): Promise<T> {
  let lease: BaseLease;
  try {
    lease = await coming;
  } catch (error) {
    if (!body.withoutLease) throw error;
    return body.withoutLease(error);
  }
  const section = lease.openSection();
  let result: T;
  let end: Promise<void> | undefined;
  try {
    result = await section.run(() => body.run(lease));
    end = body.endOf?.(result, lease);
  } catch (error) {
    section.close();
    await lease.release();
    throw error;
  }
  if (end) {
    void end.then(() => {
      section.close();
      return lease.release();
    });
    return result;
  }
  section.close();
  const released = await lease.release();
  lease.refuseLoss(released, onLost);
  return result;
}

/**
 * Runs `work` under the lease that comes.
 * @throws LeaseLostError if it succeeded after the lease was lost, unless `onLost` is 'ignore'.
 * LockOptionsError if it resulted in a stream or a generator: that would run after the lease is given back.
 */
export function withLease<T>(coming: Promise<Lease>, work: Work<T>, onLost?: OnLost): Promise<T> {
  const run = (lease: BaseLease): T | PromiseLike<T> => {
    lease.assertHeld();
    return work(lease);
  };
  const body: Body<T> = { run, endOf: refuseStream };
  return runUnderLease(coming as Promise<BaseLease>, body, onLost);
}

/** Looks at what was awaited: a query is a thenable, and may be an AsyncIterable as well. A client has `subscribe`, too. */
function refuseStream(result: unknown, { key }: BaseLease): undefined {
  const isStream =
    typeof result === 'object' &&
    result !== null &&
    (Symbol.asyncIterator in result || ('subscribe' in result && 'pipe' in result));
  if (isStream || isGenerator(result)) {
    throw new LockOptionsError(
      `The body under lock "${key}" returned a stream, or a generator, which would run unlocked: consume it inside, or use @Locked.`,
    );
  }
}

/** Whether this is what a `function*` returned: none of its code has run. */
export function isGenerator(value: unknown): boolean {
  return Object.prototype.toString.call(value) === '[object Generator]';
}

/**
 * A body that goes on in stretches, as a stream does: each is inside the lease's section. At its end the section is closed
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
