import type { DialectSettings } from '../../options/index.js';
import type { LockServer } from '../../redis/index.js';
import { batchesBy } from '../batches.js';
import type { Whereabouts } from '../lock-names.js';
import type {
  Answer,
  Ask,
  Claim,
  Extension,
  HolderSteps,
  LockPrimitive,
  Lost,
  Sight,
  Signalled,
  Transferred,
} from '../lock-primitive.js';
import { DialectLock } from './dialect-lock.js';
import { noDowngrade, noHandOver } from './refusals.js';
import { speak } from './speak.js';

/** Our own locks, and those in other services' formats: each step goes to the dialect of its claim. */
export class Dialects implements LockPrimitive {
  readonly #locks = new Map<DialectSettings, DialectLock>();

  constructor(
    private readonly native: LockPrimitive,
    private readonly server: LockServer,
    private readonly clientPrefix: string,
    /** Told the `lockId` of a lock in another format that was given back. */
    private readonly freed: (lock: string) => void,
  ) {}

  acquire(ask: Ask): Promise<Answer> {
    return this.#of(ask).acquire(ask);
  }

  release(claim: Claim, keep: number, passed?: readonly Claim[]): Promise<boolean> {
    return this.#of(claim).release(claim, keep, passed);
  }

  leave(claim: Claim, passed?: readonly Claim[]): Promise<boolean> {
    return this.#of(claim).leave(claim, passed);
  }

  /** None of two dialects. */
  batches(claims: readonly Claim[]): number[][] {
    const lockOf = (claim: Claim): HolderSteps => this.#of(claim);
    return batchesBy(claims, lockOf, (lock, own) => lock.batches(own));
  }

  extend(claims: readonly Claim[]): Promise<Extension> {
    return this.#of(claims[0]!).extend(claims);
  }

  inspect(key: string, places: number, dialect?: DialectSettings): Promise<Sight> {
    return dialect ? this.#lock(dialect).inspect(key, places) : this.native.inspect(key, places);
  }

  force(key: string, dialect?: DialectSettings): Promise<boolean> {
    return dialect ? this.#lock(dialect).force(key) : this.native.force(key);
  }

  downgrade(claim: Claim): Promise<boolean> {
    const { dialect } = claim;
    return dialect ? Promise.reject(noDowngrade(dialect)) : this.native.downgrade(claim);
  }

  transfer(claim: Claim, heir: Claim): Promise<Transferred> {
    const { dialect } = claim;
    return dialect ? Promise.reject(noHandOver(dialect)) : this.native.transfer(claim, heir);
  }

  stamp(key: string): Promise<number | undefined> {
    return this.native.stamp(key);
  }

  signal(claim: Claim, condition: string, most: number, last?: string): Promise<Signalled | Lost> {
    return this.native.signal(claim, condition, most, last);
  }

  /** Where the locks of a format stand. */
  whereabouts(dialect: DialectSettings): Whereabouts {
    return this.#lock(dialect).whereabouts;
  }

  #of({ dialect }: Pick<Claim, 'dialect'>): HolderSteps {
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
