import type { LockPrimitive, LockStore } from '../../lib/locks/lock-primitive.js';

/** One kind of lock: how to get its primitive from a store. */
export type Kind = (store: LockStore) => LockPrimitive;

/** Every kind of lock: each folder of lib/locks but `includes`, by its name. */
export const kinds: Readonly<Record<string, Kind>> = {
  lock: (store) => store.lock,
};
