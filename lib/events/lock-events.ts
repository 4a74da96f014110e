import { EventEmitter } from 'node:events';
import type { LockEventMap } from './lock-event.js';

/**
 * The events of one module, `LockService.events`: `locks.events.on('lost', (event) => …)`. A listener runs inside the step
 * that it hears of, so keep it short. What it throws, or its promise rejects with, is logged and has no other effect.
 */
export class LockEvents extends EventEmitter<LockEventMap> {
  readonly #failed: (event: string, error: unknown) => void;

  /** @internal */
  constructor(failed: (event: string, error: unknown) => void) {
    super();
    this.#failed = failed;
  }

  /** Calls each listener, whatever another one throws. */
  override emit(event: unknown, ...args: unknown[]): boolean {
    const listeners = (this as EventEmitter).rawListeners(event as string);
    for (const listener of listeners) {
      try {
        const result: unknown = Reflect.apply(listener, this, args);
        if (result instanceof Promise)
          result.catch((error: unknown) => this.#failed(String(event), error));
      } catch (error) {
        this.#failed(String(event), error);
      }
    }
    return listeners.length > 0;
  }
}
