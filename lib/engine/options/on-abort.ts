// Not every AbortSignal can do more than abort: jsdom's of Jest 29 has neither `any` nor `throwIfAborted`.

/** @throws the reason of a signal that has aborted. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw signal.reason;
}

/** Has `controller` abort as `signal` does, at once if it has. Returns how to call it off. */
export function abortWith(
  controller: AbortController,
  signal: AbortSignal | undefined,
): () => void {
  const abort = (): void => controller.abort(signal!.reason);
  if (signal?.aborted) abort();
  return onAbort(signal, abort);
}

/** What is to be done when a signal aborts; one listener for all of it, however many wait under one signal. */
const tasks = new WeakMap<
  AbortSignal,
  { readonly all: Set<() => void>; readonly listener: () => void }
>();

/** Runs `task` when the signal aborts; not at once if it has. Returns how to call it off. */
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
