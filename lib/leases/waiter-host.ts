import type { Held, LockPrimitive } from '../locks/lock-primitive.js';
import type { Clock, ModuleSettings } from '../options/index.js';
import type { Holding } from './holding.js';
import type { Waiter } from './waiter.js';
import type { WaitingRoom } from './waiting-room.js';

/** A grant as a push tells it. */
export type Grant = Omit<Held, 'kind' | 'sentAt'> & { readonly sentAt: number | undefined };

/** What a waiter needs of the process it waits in. */
export interface WaiterHost {
  readonly lock: LockPrimitive;
  readonly clock: Clock;
  readonly settings: ModuleSettings;
  newHolderId(): string;
  room(key: string): WaitingRoom;
  /** From now on pushes for this holder id reach the waiter. */
  expect(waiter: Waiter): void;
  /** No more pushes for this holder id. */
  forget(waiter: Waiter): void;
  /** Whatever this holder id asked for is given up. */
  depart(waiter: Waiter): void;
  /** A grant had to be found by asking. */
  pushMissed(): void;
  /** The lock is ours from this moment on. */
  enter(holding: Holding): void;
}
