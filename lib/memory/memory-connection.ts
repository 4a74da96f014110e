import { LockStoreError } from '../engine/errors/index.js';
import { type Clock } from '../engine/options/index.js';
import type { MemoryServer } from './memory-server.js';

/** The connection of a process to the server. Every command settles within `timeout` ms, as on Redis. */
export class MemoryConnection {
  open = false;

  constructor(
    readonly server: MemoryServer,
    readonly timeout: number,
    readonly clock: Clock,
  ) {}

  /** Runs `step` on the server and answers asynchronously, as a network would. */
  send<T>(key: string | undefined, step: () => T): Promise<T> {
    const { server, clock, timeout } = this;
    if (!this.open) return Promise.reject(failure(key, 'it is not open', 'unsent'));
    if (server.answers) return server.run(step);
    return new Promise((resolve, reject) => {
      const cancel = clock.after(timeout, () =>
        reject(failure(key, `it did not answer within ${timeout} ms`, 'unknown')),
      );
      server.run(step).then(resolve, reject).finally(cancel);
    });
  }
}

function failure(
  key: string | undefined,
  says: string,
  outcome: 'unsent' | 'unknown',
): LockStoreError {
  const lock = key === undefined ? '' : ` for lock "${key}"`;
  return new LockStoreError(`The lock store in memory failed${lock}: ${says}.`, { key, outcome });
}
