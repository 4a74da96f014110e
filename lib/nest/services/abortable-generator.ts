/**
 * Makes an async generator whose `left` aborts as soon as its consumer leaves. A plain generator would notice only at its next
 * yield: `return()` and `throw()` queue behind a pending pull.
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
