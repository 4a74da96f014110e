import { LockOptionsError } from '../../engine/errors/index.js';
import type { BaseLease, Lease, OpenSection } from '../../engine/client/leases/lease.js';

/** Work to be done under a lease. */
export type Work<T> = (lease: Lease) => T | PromiseLike<T>;

/** What happens when a body succeeds after its lease was lost. */
export type OnLost = 'throw' | 'ignore' | undefined;

/** Code that runs under a lease and ends with a Promise. */
export interface Body<T> {
  /** Runs inside the lease's section. */
  run(lease: BaseLease): T | PromiseLike<T>;
  /** Resolves when the body ends, if that is later than its result. An error thrown here is the body's error. */
  endOf?(result: T, lease: BaseLease): Promise<void> | undefined;
  /** Supplies the result if no lease was granted. Without this function, the error of the acquisition is the outcome. */
  withoutLease?(error: unknown): Promise<T>;
}

/**
 * Runs a body under the lease that `coming` resolves to, and releases the lease when the body ends. A running body is never
 * abandoned; its error always wins. One function does it all: each further one would cost every call a promise and a microtask.
 * @throws LeaseLostError if the body succeeded after its lease was lost, unless `onLost` is 'ignore'.
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
 * Runs `work` under the lease that `coming` resolves to.
 * @throws LeaseLostError if the work succeeded after the lease was lost, unless `onLost` is 'ignore'. LockOptionsError if the
 * work returned a stream or a generator, which would run after the release.
 */
export function withLease<T>(coming: Promise<Lease>, work: Work<T>, onLost?: OnLost): Promise<T> {
  const run = (lease: BaseLease): T | PromiseLike<T> => {
    lease.assertHeld();
    return work(lease);
  };
  const body: Body<T> = { run, endOf: refuseStream };
  return runUnderLease(coming as Promise<BaseLease>, body, onLost);
}

/**
 * Checks the awaited result, since a query may be a thenable and an AsyncIterable at once. `subscribe` alone proves nothing: a
 * Redis client has it too.
 */
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

/** True for the object that a `function*` returns before any of its code has run. */
export function isGenerator(value: unknown): boolean {
  return Object.prototype.toString.call(value) === '[object Generator]';
}

/**
 * A body that runs in several steps, as a stream does, each inside the lease's section. Its end closes the section and releases
 * the lease, once. Without a lease the steps run all the same.
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

  /** Runs one step of the body. */
  run<T>(work: () => T): T {
    return this.#section ? this.#section.run(work) : work();
  }

  /**
   * Ends a body that succeeded.
   * @throws LeaseLostError if its lease was lost before, unless `onLost` is 'ignore'.
   */
  async complete(): Promise<void> {
    if (this.#end()) await this.lease!.finish(this.onLost);
  }

  /** Ends a body that failed, or whose consumer left. */
  async breakOff(): Promise<void> {
    if (this.#end()) await this.lease!.release();
  }

  /** Closes the section. Returns true at the first end, if there is a lease to release. */
  #end(): boolean {
    const first = !this.#ended;
    this.#ended = true;
    this.#section?.close();
    return first && this.lease !== undefined;
  }
}
