import { AsyncResource } from 'node:async_hooks';

/** The rows of an HTTP answer. Each row is made in the asynchronous context of the constructor's caller, whoever asks for it. */
export class AnswerRows implements AsyncIterableIterator<unknown> {
  readonly #iterator: AsyncIterator<unknown>;
  readonly #scope = new AsyncResource('AnswerRows');
  /** Resolves when no code makes rows any more. */
  readonly end: Promise<void>;

  /** @param sent the end of the answer, after which nobody asks for rows */
  constructor(rows: AsyncIterable<unknown>, sent: Promise<void>) {
    this.#iterator = rows[Symbol.asyncIterator]();
    const over = (): void => {};
    this.end = sent.then(() => this.return()).then(over, over);
  }

  next(): Promise<IteratorResult<unknown>> {
    return this.#scope.runInAsyncScope(() => this.#iterator.next());
  }

  async return(): Promise<IteratorResult<unknown>> {
    await this.#scope.runInAsyncScope(() => this.#iterator.return?.());
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/**
 * The rows, of which the first fails with what `exceptionOf` makes of its error. No filter hears of a later one, which Nest logs
 * as it is: the headers are sent with the first.
 */
export function withFirstError(
  rows: AsyncIterable<unknown>,
  exceptionOf: (error: unknown) => unknown,
): AsyncIterable<unknown> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = rows[Symbol.asyncIterator]();
      let isFirst = true;
      return {
        async next() {
          const before = isFirst;
          isFirst = false;
          try {
            return await iterator.next();
          } catch (error) {
            throw before ? exceptionOf(error) : error;
          }
        },
        async return() {
          await iterator.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}
