import type { DialectSettings } from '../../options/index.js';
import type { LockServer } from '../../redis/index.js';
import { batchesBy } from '../batches.js';
import type { Whereabouts } from '../lock-names.js';
import type {
  Answer,
  Extension,
  HolderSteps,
  LockPrimitive,
  Lost,
  Sight,
  Signalled,
  Transferred,
} from '../lock-primitive.js';
import type { LockRequest } from '../lock-request.js';
import { DialectLock } from './dialect-lock.js';
import { noDowngrade, noHandOver } from './refusals.js';
import { speak } from './speak.js';

/** Our own locks, and those in other services' formats: each step goes to the dialect of its request. */
export class Dialects implements LockPrimitive {
  readonly #locks = new Map<DialectSettings, DialectLock>();

  constructor(
    private readonly native: LockPrimitive,
    private readonly server: LockServer,
    private readonly clientPrefix: string,
    /** Told the `lockId` of a lock in another format that was given back. */
    private readonly freed: (lock: string) => void,
  ) {}

  acquire(request: LockRequest): Promise<Answer> {
    return this.#of(request).acquire(request);
  }

  release(request: LockRequest, keep: number, passed?: readonly LockRequest[]): Promise<boolean> {
    return this.#of(request).release(request, keep, passed);
  }

  leave(request: LockRequest, passed?: readonly LockRequest[]): Promise<boolean> {
    return this.#of(request).leave(request, passed);
  }

  /** None of two dialects. */
  batches(requests: readonly LockRequest[]): number[][] {
    const lockOf = (request: LockRequest): HolderSteps => this.#of(request);
    return batchesBy(requests, lockOf, (lock, own) => lock.batches(own));
  }

  extend(requests: readonly LockRequest[]): Promise<Extension> {
    return this.#of(requests[0]!).extend(requests);
  }

  inspect(key: string, places: number, dialect?: DialectSettings): Promise<Sight> {
    return dialect ? this.#lock(dialect).inspect(key, places) : this.native.inspect(key, places);
  }

  force(key: string, dialect?: DialectSettings): Promise<boolean> {
    return dialect ? this.#lock(dialect).force(key) : this.native.force(key);
  }

  downgrade(request: LockRequest): Promise<boolean> {
    const { dialect } = request;
    return dialect ? Promise.reject(noDowngrade(dialect)) : this.native.downgrade(request);
  }

  transfer(request: LockRequest, heir: LockRequest): Promise<Transferred> {
    const { dialect } = request;
    return dialect ? Promise.reject(noHandOver(dialect)) : this.native.transfer(request, heir);
  }

  stamp(key: string): Promise<number | undefined> {
    return this.native.stamp(key);
  }

  signal(
    request: LockRequest,
    condition: string,
    most: number,
    last?: string,
  ): Promise<Signalled | Lost> {
    return this.native.signal(request, condition, most, last);
  }

  /** Where the locks of a format stand. */
  whereabouts(dialect: DialectSettings): Whereabouts {
    return this.#lock(dialect).whereabouts;
  }

  #of({ dialect }: Pick<LockRequest, 'dialect'>): HolderSteps {
    return dialect ? this.#lock(dialect) : this.native;
  }

  #lock(dialect: DialectSettings): DialectLock {
    let lock = this.#locks.get(dialect);
    if (!lock) {
      const format = speak(dialect, this.clientPrefix);
      lock = new DialectLock(this.server, this.clientPrefix, dialect, format, this.freed);
      this.#locks.set(dialect, lock);
    }
    return lock;
  }
}
