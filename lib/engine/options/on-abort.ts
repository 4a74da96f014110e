// Not every AbortSignal can do more than abort: jsdom's of Jest 29 has neither `any` nor `throwIfAborted`.

/** @throws the reason of a signal that has aborted. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw signal.reason;
}

/** Aborts `controller` when `signal` aborts, or at once if it has. Returns a function that ends that. */
export function abortWith(
  controller: AbortController,
  signal: AbortSignal | undefined,
): () => void {
  const abort = (): void => controller.abort(signal!.reason);
  if (signal?.aborted) abort();
  return onAbort(signal, abort);
}

/** The tasks for the abort of each signal, behind one listener, however many callers wait under one signal. */
const tasks = new WeakMap<
  AbortSignal,
  { readonly all: Set<() => void>; readonly listener: () => void }
>();

/** Runs `task` when the signal aborts; never if it already has. Returns a function that calls the task off. */
export function onAbort(signal: AbortSignal | undefined, task: () => void): () => void {
  if (!signal) return () => {};
  let known = tasks.get(signal);
  if (!known) {
    const all = new Set<() => void>();
    const listener = (): void => {
      tasks.delete(signal);
      for (const each of all) each();
    };
    signal.addEventListener('abort', listener, { once: true });
    tasks.set(signal, (known = { all, listener }));
  }
  const { all, listener } = known;
  all.add(task);
  return () => {
    all.delete(task);
    if (all.size > 0 || tasks.get(signal) !== known) return;
    tasks.delete(signal);
    signal.removeEventListener('abort', listener);
  };
}
