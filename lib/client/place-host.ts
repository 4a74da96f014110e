import type { Run } from '../locks/grant.js';
import type { LockPrimitive } from '../locks/lock-primitive.js';
import type { LockRequest } from '../locks/lock-request.js';
import type { Clock, ModuleSettings } from '../options/index.js';
import type { Place } from './place.js';
import type { WaitingRoom } from './waiting-room.js';

/** What a place needs of the process it stands for. */
export interface PlaceHost {
  readonly lock: LockPrimitive;
  readonly clock: Clock;
  readonly settings: ModuleSettings;
  room(lock: Pick<LockRequest, 'key' | 'dialect'>): WaitingRoom;
  /** The first place of a run in the queue of a lock, unless this process knows of other places there. */
  firstOfRun(lock: Pick<LockRequest, 'key' | 'dialect'>, run: Run): Place | undefined;
  /** From now on pushes for this holder id reach the place. */
  expect(place: Place): void;
  /** No more pushes for this holder id: it has the lock, `granted` by the store or not, or is given up. */
  forget(place: Place, granted: boolean): void;
  /** Whatever this holder id asked for is given up. */
  depart(place: Place): void;
  /** These places had their turns, without the store: it is told. */
  departPassed(places: readonly Place[]): void;
  /** A grant had to be found by asking. */
  pushMissed(): void;
}
