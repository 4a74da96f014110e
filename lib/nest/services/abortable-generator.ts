/**
 * An async generator that hears at once when its consumer leaves: `left` aborts. By itself it would hear of that only
 * when it yields the next time, for `return()` and `throw()` wait behind a pull that is pending.
 */
export function abortableGenerator<T>(
  generate: (left: AbortSignal) => AsyncGenerator<T>,
): AsyncGenerator<T, unknown> {
  const leaving = new AbortController();
  const generator = generate(leaving.signal) as AsyncGenerator<T, unknown>;
  const end = generator.return.bind(generator);
  const fail = generator.throw.bind(generator);
  return Object.assign(generator, {
    return(value: unknown) {
      leaving.abort();
      return end(value);
    },
    throw(error: unknown) {
      leaving.abort();
      return fail(error);
    },
  });
}
