import { EMPTY, isObservable, Observable, type Observer, of, type Subscription } from 'rxjs';
import {
  LockLimitError,
  LockNotAcquiredError,
  LockOptionsError,
  LockStoreError,
} from '../../engine/errors/index.js';
import type { BaseLease } from '../../engine/client/leases/lease.js';
import { isGenerator, LeasedBody, runUnderLease } from './run-under-lease.js';
import { onAbort, POLICY_DEFAULTS } from '../../engine/options/index.js';
import type { CallPlan } from './call-plan.js';
import { endOfStream, streamOf } from './end-of-stream.js';
import { logger } from './logger.js';

/** Runs the method. The lease is undefined only if the author chose `onUnavailable: 'proceed'`. */
export type Run = (lease: BaseLease | undefined) => unknown;

type Entry = { readonly lease: BaseLease | undefined } | { readonly instead: unknown };

/**
 * One call of a decorated method under its lock. The lock is held until the result has come to its end, whatever its kind, and
 * is released before the caller sees that end. Never runs unlocked unless `onUnavailable: 'proceed'`.
 */
export class LockedCall {
  constructor(
    private readonly plan: CallPlan,
    private readonly names: string | readonly string[],
    private readonly args: readonly unknown[],
    private readonly run: Run,
    private readonly instance?: object,
  ) {}

  /** The keys of the call, as messages name them. */
  get key(): string {
    return typeof this.names === 'string' ? this.names : this.names.join(', ');
  }

  /**
   * Runs a method whose result is a value or a stream. The lock is held until the stream is closed, or until `end` resolves for
   * the result. When `left` aborts, a waiting call gives up.
   * @throws LazyResultError naming the method as `methodName` if the result would begin after the method has returned.
   */
  promise(
    end?: (result: unknown) => Promise<void> | undefined,
    methodName?: string,
    left?: AbortSignal,
  ): Promise<unknown> {
    const endOf = (result: unknown): Promise<void> | undefined => {
      this.#refuseLazy(result, methodName);
      return endOfStream(result) ?? end?.(result);
    };
    const withoutLease = async (error: unknown): Promise<unknown> => {
      const entry = await this.#without(error);
      if ('instead' in entry) return entry.instead;
      const result = await this.run(undefined);
      this.#refuseLazy(result, methodName);
      return result;
    };
    const { client, call, policy } = this.plan;
    const body = { run: this.run, endOf, withoutLease };
    return runUnderLease(client.acquire(this.names, call, left), body, policy.onLost);
  }

  /**
   * Acquires the lock at each subscription; errors with `LeaseLostError` at the moment of loss. `over` resolves when the method
   * has ended, which may be after the unsubscription.
   */
  observable(over?: () => Promise<void>): Observable<unknown> {
    const { client, call, policy } = this.plan;
    return new Observable((subscriber) => {
      const waiting = new AbortController();
      let inner: Subscription | undefined;
      let unwatch = (): void => {};
      const start = (entry: Entry): void => {
        if ('instead' in entry) {
          const { instead } = entry;
          inner = (
            isObservable(instead) ? instead : instead === undefined ? EMPTY : of(instead)
          ).subscribe(subscriber);
          return;
        }
        const { lease } = entry;
        if (subscriber.closed) return void lease?.release('unused');
        const body = new LeasedBody(lease, policy.onLost);
        const breakOff = (): Promise<void> =>
          over ? over().then(() => body.breakOff()) : body.breakOff();
        const fail = (error: unknown): void => void breakOff().then(() => subscriber.error(error));
        if (lease && policy.onLost !== 'ignore') {
          if (lease.signal.aborted) return fail(lease.signal.reason);
          unwatch = onAbort(lease.signal, () => subscriber.error(lease.signal.reason));
        }
        const source = new Observable((sink) => {
          inner = sink; // `inner` is set before the first value, at which the subscriber may leave
          return (this.run(lease) as Observable<unknown>).subscribe(sink);
        });
        const observer: Observer<unknown> = {
          next: (value) => subscriber.next(value),
          error: fail,
          complete: () =>
            void body.complete().then(
              () => subscriber.complete(),
              (error: unknown) => subscriber.error(error),
            ),
        };
        const subscription = body.run(() => source.subscribe(observer));
        subscription.add(() => void breakOff()); // the lease is released after the source has stopped
      };
      const coming = client.acquire(this.names, call, waiting.signal);
      this.#entry(coming).then(start, (error: unknown) => subscriber.error(error));
      return () => {
        waiting.abort();
        unwatch(); // code around this call may hold the same lease for long
        inner?.unsubscribe();
      };
    });
  }

  /**
   * Acquires the lock at the first pull; releases it at the end, at an error, or when the consumer breaks off. When `left`
   * aborts, a waiting call leaves the queue. A running method's iterator is told to return, even during a pull, and is awaited.
   */
  async *iterable(left: AbortSignal): AsyncGenerator<unknown> {
    const { client, call, policy } = this.plan;
    const coming = client.acquire(this.names, call, left);
    const entry = await this.#entry(coming).catch((error: unknown) => {
      if (error === left.reason) return undefined;
      throw error;
    });
    const lease = entry && 'lease' in entry ? entry.lease : undefined;
    if (!entry || left.aborted) return void (await lease?.release('unused'));
    if ('instead' in entry && !isAsyncIterable(entry.instead)) {
      if (entry.instead !== undefined) yield entry.instead;
      return;
    }
    const body = new LeasedBody(lease, policy.onLost);
    let iterator: AsyncIterator<unknown> | undefined;
    let returned: Promise<unknown> | undefined;
    const tellReturn = (): Promise<unknown> =>
      (returned ??= body.run(async () => iterator?.return?.()).catch(() => {}));
    const unwatch = onAbort(left, () => void tellReturn());
    let done = false;
    try {
      const rows = body.run(() => ('instead' in entry ? entry.instead : this.run(lease)));
      iterator = body.run(() => (rows as AsyncIterable<unknown>)[Symbol.asyncIterator]());
      for (;;) {
        const step = await body.run(() => iterator!.next());
        if (step.done) break;
        if (policy.onLost !== 'ignore') lease?.assertHeld();
        yield step.value;
      }
      done = !left.aborted;
    } finally {
      unwatch();
      if (!done) await tellReturn();
      await (done ? body.complete() : body.breakOff());
    }
  }

  /** Resolves to the lease, or to what the policy says for a call without one. */
  async #entry(coming: Promise<BaseLease>): Promise<Entry> {
    try {
      return { lease: await coming };
    } catch (error) {
      return this.#without(error);
    }
  }

  async #without(error: unknown): Promise<Entry> {
    const { onBusy = POLICY_DEFAULTS.onBusy, onUnavailable = POLICY_DEFAULTS.onUnavailable } =
      this.plan.policy;
    const { key, args } = this;
    if (isBusy(error) && onBusy !== 'throw') {
      const skips = onBusy === 'skip';
      logger.debug(
        `Lock "${key}" is busy: the call is ${skips ? 'skipped' : 'answered by onBusy'}.`,
      );
      const { client, call } = this.plan;
      const keys = typeof this.names === 'string' ? [this.names] : this.names;
      client.publisher.tell('skipped', () => ({
        by: 'busy',
        ...client.publisher.subject(keys, call),
      }));
      return { instead: skips ? undefined : await onBusy.call(this.instance, { key, args }) };
    }
    if (error instanceof LockStoreError && onUnavailable === 'proceed') {
      logger.warn(
        `${error.message} The call proceeds WITHOUT the lock (onUnavailable: 'proceed').`,
      );
      return { lease: undefined };
    }
    throw error;
  }

  #refuseLazy(result: unknown, methodName?: string): void {
    if (isGenerator(result)) {
      throw new LockOptionsError(
        `The method under lock "${this.key}" returned a generator, which would run unlocked: make it an "async function*", or consume it inside.`,
      );
    }
    const kind = lazyKind(result);
    if (kind === undefined) return;
    throw new LazyResultError(
      methodName === undefined
        ? `The handler under lock "${this.key}" returned an ${kind}, which would begin unlocked: put @Locked on it instead of @LockedRequest.`
        : `${methodName} returned an ${kind}, which its declared type does not say: declare it, or set "returns: '${kind}'".`,
    );
  }
}

/** The error of a method that was expected to return a Promise, and returned an Observable or an AsyncIterable. */
export class LazyResultError extends LockOptionsError {
  override readonly name = LockOptionsError.name;
}

/** True if other callers hold the lock, or if more than `maxWaiting` callers wait for it. */
function isBusy(error: unknown): boolean {
  if (error instanceof LockLimitError) return error.limit === 'maxWaiting';
  return error instanceof LockNotAcquiredError;
}

/** The kind of a lazy result: it would begin after the method has returned and the lock is released. */
export function lazyKind(result: unknown): 'observable' | 'iterable' | undefined {
  if (isObservable(result)) return 'observable';
  return isAsyncIterable(result) && streamOf(result) === undefined ? 'iterable' : undefined;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
