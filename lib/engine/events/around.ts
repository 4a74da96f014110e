/** Runs a body inside of something, such as a context of async work: `(body) => storage.run(value, body)`. */
export type Around = (body: () => unknown) => unknown;

/** Runs the body inside of what a subscriber chose; that changes nothing of what the body returns or throws, nor whether it runs. */
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
    // The body's own error is thrown below; another one is the subscriber's.
  }
  // The same of what it rejects with: nobody else hears of that, and Node.js would end the process.
  if (made instanceof Promise && made !== returned) made.catch(() => {});
  return (outcome ?? once)();
}
