import { EventEmitter } from 'node:events';
import type { LockEventMap } from './lock-event.js';
import { tellEach } from './tell-each.js';

/**
 * The events of one module, `LockService.events`: `locks.events.on('lost', (event) => …)`. A listener runs inside the step
 * that it hears of, so keep it short. An error that it throws, or with which its promise rejects, is only logged.
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
    return tellEach(this as EventEmitter, event as string, args, (error) =>
      this.#failed(String(event), error),
    );
  }
}
