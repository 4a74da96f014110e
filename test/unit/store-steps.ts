import { newHolderId } from '../../lib/engine/locks/holder.js';
import type { LockRequest } from '../../lib/engine/locks/lock-request.js';
import type { LockStore } from '../../lib/engine/locks/lock-store.js';

/** What a caller asks of a lock in any format. */
export const steps: Record<string, (lock: LockStore, request: LockRequest) => Promise<unknown>> = {
  acquire: (lock, request) => lock.acquire({ ...request, queue: true, wanted: () => true }),
  release: (lock, request) => lock.release(request, 0),
  leave: (lock, request) => lock.leave(request),
  extend: (lock, request) => lock.extend([request]),
  inspect: (lock, { key, format }) => lock.inspect(key, 1, format),
  force: (lock, { key, format }) => lock.force(key, format),
};

/** What it asks of a lock in our own format alone. */
export const own: typeof steps = {
  signal: (lock, request) => lock.signal(request, 'changed', 1),
  downgrade: (lock, request) => lock.downgrade(request),
  transfer: (lock, request) =>
    lock.transfer(request, { ...request, holder: newHolderId('successor') }),
  stamp: (lock, { key }) => lock.stamp(key),
};
