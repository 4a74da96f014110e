import type { ExecutionContext } from '@nestjs/common';
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  defer,
  finalize,
  fromEvent,
  isObservable,
  lastValueFrom,
  Observable,
  type Subscription,
  takeUntil,
  takeWhile,
} from 'rxjs';
import { discard } from '../services/end-of-stream.js';

/**
 * The run that the interceptors and pipes of a request are inside of: however often `LockInterceptor` is registered, each
 * decorator acts once in it. Where the asynchronous context is lost between two registrations, the second acts again:
 * rather that than never.
 */
const inside = new AsyncLocalStorage<HandlerRun | undefined>();

/**
 * One run of a request's handler, under all of its locks. Nest calls the handler before anybody subscribes to its answer,
 * and an async one runs to its end also when nobody wants that any more: who leaves before its first answer is out at
 * once, while the run goes on until then. A request that an interceptor handles again has another run, which needs the
 * locks again; two of them may go on beside each other.
 */
export class HandlerRun {
  #context: ExecutionContext | undefined;
  /** Whether unsubscribing stops it at any time: the handler has returned an Observable, or declares to. */
  #stops: boolean;
  /** Calls of the handler that have not returned yet. */
  #pending = 0;
  #closed = false;
  #running: Subscription | undefined;
  #over: Promise<void> | undefined;
  #end = (): void => {};

  /** Whether the running code is inside a run of this request, before its handler. */
  static isInside(context: ExecutionContext): boolean {
    const run = inside.getStore();
    return run !== undefined && run.#context === context;
  }

  /**
   * Calls the `handler` of the run that the running code is inside of, if any.
   * @throws Error if the request was left or answered before, as its lock may be given back.
   */
  static call(handler: () => unknown): unknown {
    const run = inside.getStore();
    // What the handler calls is no handler of this run, and what it leaves running keeps no request.
    return run ? run.#call(() => inside.run(undefined, handler)) : handler();
  }

  constructor(context: ExecutionContext, declaresObservable: boolean) {
    this.#context = context;
    this.#stops = declaresObservable;
  }

  /** What comes of the handler, which `handle` calls behind further interceptors and pipes. One subscriber only. */
  answers(handle: () => Observable<unknown>): Observable<unknown> {
    return new Observable((subscriber) => {
      this.#over = new Promise((resolve) => (this.#end = resolve));
      const wanted = (answer: unknown): boolean => {
        this.#stops = true;
        if (this.#closed) discard(answer);
        return !this.#closed;
      };
      const close = (): void => {
        this.#closed = true;
        this.#context = undefined;
        if (this.#pending === 0) this.#end();
      };
      this.#running = defer(() => inside.run(this, handle))
        .pipe(takeWhile(wanted), finalize(close))
        .subscribe({
          next: (answer) => subscriber.next(answer),
          error: (error: unknown) => subscriber.error(error),
          complete: () => subscriber.complete(),
        });
      return () => {
        this.#closed = true;
        if (this.#stops) this.#running?.unsubscribe();
      };
    });
  }

  #call(handler: () => unknown): unknown {
    if (this.#closed) throw new Error('The request was left before its handler was called.');
    this.#pending += 1;
    this.#stops = false;
    const returned = (result?: unknown): void => {
      this.#pending -= 1;
      this.#stops = this.#pending === 0 && isObservable(result);
      if (this.#closed && this.#stops) this.#running?.unsubscribe();
      if (this.#running?.closed && this.#pending === 0) this.#end();
    };
    let result: unknown;
    try {
      result = handler();
    } catch (error) {
      returned();
      throw error;
    }
    if (!isPromiseLike(result)) {
      returned(result);
      return result;
    }
    // One `then` only: each may begin the work of what is no Promise, as a query.
    return result.then(
      (value) => {
        returned(value);
        return value;
      },
      (error: unknown) => {
        returned();
        throw error;
      },
    );
  }

  /** Resolves when no code of the handler runs. */
  readonly over = async (): Promise<void> => this.#over;

  /**
   * The last of `answers`, which may stand for those of this run under further locks. Where their consumer has `left`, it
   * comes all the same only when the run is over.
   */
  async last(answers: Observable<unknown>, left: AbortSignal): Promise<unknown> {
    if (left.aborted) return undefined;
    const wanted = answers.pipe(takeUntil(fromEvent(left, 'abort')));
    try {
      return await lastValueFrom(wanted, { defaultValue: undefined });
    } finally {
      await this.#over;
    }
  }
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}
