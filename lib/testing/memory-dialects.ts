import { noDowngrade, noHandOver } from '../locks/dialects/refusals.js';
import { lockId } from '../locks/lock-id.js';
import type {
  Answer,
  Ask,
  Claim,
  Extended,
  LockPrimitive,
  Sight,
} from '../locks/lock-primitive.js';
import type { DialectSettings } from '../options/index.js';

/**
 * Locks in other services' formats, in memory: each is a lock of its own, apart from ours of that name, but nobody
 * else is there and nothing is written in that format. Waiters queue as for ours. Refused is what is refused on Redis.
 */
export class MemoryDialects implements LockPrimitive {
  constructor(private readonly native: LockPrimitive) {}

  acquire(ask: Ask): Promise<Answer> {
    return this.native.acquire(apart(ask));
  }

  release(claim: Claim, keep: number, passed?: readonly Claim[]): Promise<boolean> {
    return this.native.release(apart(claim), keep, passed);
  }

  leave(claim: Claim): Promise<boolean> {
    return this.native.leave(apart(claim));
  }

  extend(claims: readonly Claim[]): Promise<{ sentAt: number; remaining: Extended[] }> {
    return this.native.extend(claims.map(apart));
  }

  inspect(key: string, places: number, dialect?: DialectSettings): Promise<Sight> {
    return this.native.inspect(lockId({ key, dialect }), places);
  }

  force(key: string, dialect?: DialectSettings): Promise<boolean> {
    return this.native.force(lockId({ key, dialect }));
  }

  async downgrade(claim: Claim): Promise<boolean> {
    if (claim.dialect) throw noDowngrade(claim.dialect);
    return this.native.downgrade(claim);
  }

  async transfer(claim: Claim, heir: Claim): Promise<{ sentAt: number; remaining: Extended }> {
    if (claim.dialect) throw noHandOver(claim.dialect);
    return this.native.transfer(claim, heir);
  }

  stamp(key: string): Promise<number | undefined> {
    return this.native.stamp(key);
  }

  signal(claim: Claim, condition: string, most: number): Promise<number> {
    return this.native.signal(claim, condition, most);
  }
}

/** The same claim to a lock that no name of ours names. */
function apart<Asked extends Claim>(claim: Asked): Asked {
  return claim.dialect ? { ...claim, key: lockId(claim) } : claim;
}
