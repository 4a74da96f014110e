import type { EventEmitter } from 'node:events';

/**
 * Calls each listener of an event, whatever another one does. An error that one throws, or with which its promise rejects,
 * goes to `failed` alone. False if nobody listens.
 */
export function tellEach(
  emitter: EventEmitter,
  event: string,
  args: readonly unknown[],
  failed: (error: unknown) => void,
): boolean {
  const listeners = emitter.rawListeners(event);
  for (const listener of listeners) {
    try {
      const result: unknown = Reflect.apply(listener, emitter, args);
      if (result instanceof Promise) result.catch(failed);
    } catch (error) {
      failed(error);
    }
  }
  return listeners.length > 0;
}
