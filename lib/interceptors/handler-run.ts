import { defer, finalize, fromEvent, lastValueFrom, Observable, takeUntil, takeWhile } from 'rxjs';
import { discard } from '../services/end-of-stream.js';

/**
 * One run of a request's handler. Nest calls it before anybody subscribes to its answer, and an async one runs to its end
 * also when nobody wants that any more: who leaves before its first answer is out at once, while the run goes on until then.
 */
export class HandlerRun {
  readonly answers: Observable<unknown>;
  #over: Promise<void> | undefined;

  /** @param stops whether unsubscribing stops it at any time: it has returned an Observable by itself */
  constructor(handle: () => Observable<unknown>, stops: boolean) {
    this.answers = new Observable((subscriber) => {
      let answered = false;
      let end!: () => void;
      this.#over = new Promise((resolve) => (end = resolve));
      const wanted = (answer: unknown): boolean => {
        answered = true;
        if (subscriber.closed) discard(answer);
        return !subscriber.closed;
      };
      const running = defer(handle)
        .pipe(takeWhile(wanted), finalize(end))
        .subscribe({
          next: (answer) => subscriber.next(answer),
          error: (error: unknown) => subscriber.error(error),
          complete: () => subscriber.complete(),
        });
      return () => {
        if (stops || answered) running.unsubscribe();
      };
    });
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
