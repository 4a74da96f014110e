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
 * The run that surrounds the interceptors and pipes of a request: each decorator acts once in it, however often
 * `LockInterceptor` is registered. If the asynchronous context is lost between two registrations, the decorator acts twice
 * rather than never.
 */
const inside = new AsyncLocalStorage<HandlerRun | undefined>();

/**
 * One run of a request's handler, under all of its locks. Nest calls the handler before its answer has a subscriber, and an
 * async handler cannot be stopped. A subscriber that leaves before the first answer is free at once; the run goes on until that
 * answer. A retry by an interceptor is another run, which needs the locks again; two runs may overlap.
 */
export class HandlerRun {
  #context: ExecutionContext | undefined;
  /** Whether unsubscribing stops the handler at any time: it has returned an Observable, or declares to. */
  #stops: boolean;
  /** Calls of the handler that have not returned yet. */
  #pending = 0;
  #closed = false;
  #gone: AbortSignal | undefined;
  #running: Subscription | undefined;
  #over: Promise<void> | undefined;
  #end = (): void => {};
  /** Ends the run with an error, whatever its interceptors do. */
  #stop = (_error: unknown): void => {};
  #refused = false;

  /** True if the running code is inside a run of this request, before its handler. */
  static isInside(context: ExecutionContext): boolean {
    const run = inside.getStore();
    return run !== undefined && run.#context === context;
  }

  /**
   * Calls `handler` as a part of the run around the running code, if there is one.
   * @throws Error if the request was left or answered before, as its lock may be given back, or if its client is gone.
   */
  static call(handler: () => unknown): unknown {
    const run = inside.getStore();
    // Code inside the handler leaves the run: handlers it calls are not this request's, and its background work keeps no lock.
    return run ? run.#call(() => inside.run(undefined, handler)) : handler();
  }

  constructor(context: ExecutionContext, declaresObservable: boolean) {
    this.#context = context;
    this.#stops = declaresObservable;
  }

  /** Emits the answers of the handler, which `handle` calls behind further interceptors and pipes. Allows one subscriber. */
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
      this.#stop = (error) => {
        subscriber.error(error);
        this.#running?.unsubscribe();
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
    if (this.#closed || this.#gone?.aborted) throw this.#refusal();
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
    // Only one `then`: a query is a lazy thenable, and each `then` may begin its work.
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

  /** Why the handler is not called. An interceptor that retries would ask for ever: the second time, the run ends. */
  #refusal(): unknown {
    const why: unknown = this.#closed
      ? new Error('The request was left before its handler was called.')
      : this.#gone!.reason;
    if (this.#refused) queueMicrotask(() => this.#stop(why));
    this.#refused = true;
    return why;
  }

  /** Resolves when no code of the handler runs. */
  readonly over = async (): Promise<void> => this.#over;

  /**
   * Resolves to the last of `answers`, which are those of this run, perhaps under further locks. Also after `left` aborts, it
   * waits for the end of the run. After `gone` aborts, its handler does not start.
   */
  async last(
    answers: Observable<unknown>,
    left: AbortSignal,
    gone: AbortSignal | undefined,
  ): Promise<unknown> {
    this.#gone ??= gone;
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
