/** Runs a body inside of something, such as a context of async work: `(body) => storage.run(value, body)`. */
export type Around = (body: () => unknown) => unknown;

/** Runs a body inside of a subscriber's `around`, which changes neither its result nor its error, nor whether it runs. */
export function runAround<T>(around: Around, body: () => T): T {
  let outcome: (() => T) | undefined;
  let returned: unknown;
  const once = (): T => {
    try {
      const result = body();
      returned = result;
      outcome = () => result;
    } catch (error) {
      outcome = () => {
        throw error;
      };
    }
    return outcome();
  };
  let made: unknown;
  try {
    made = around(() => (outcome ?? once)());
  } catch {
    // The body's own error is thrown below; an error of the subscriber is dropped.
  }
  // A rejection of the subscriber's promise is dropped, too: Node.js would end the process.
  if (made instanceof Promise && made !== returned) made.catch(() => {});
  return (outcome ?? once)();
}
