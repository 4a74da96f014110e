/** A call to look at later: a test that fails before has not forgotten it. */
export function later<T>(call: Promise<T>): Promise<T> {
  call.catch(() => {});
  return call;
}
