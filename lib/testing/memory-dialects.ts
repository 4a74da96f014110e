import { noDowngrade, noHandOver } from '../locks/dialects/refusals.js';
import type { Claim, Transferred } from '../locks/lock-primitive.js';
import { Modes } from '../locks/modes.js';

/**
 * Our own locks and those in other services' formats, in memory: each of those is a lock of its own, apart from ours of
 * that name, but nobody else is there and nothing is written in that format. Waiters queue as for ours. Refused is what
 * is refused on Redis.
 */
export class MemoryDialects extends Modes {
  override async downgrade(claim: Claim): Promise<boolean> {
    if (claim.dialect) throw noDowngrade(claim.dialect);
    return super.downgrade(claim);
  }

  override async transfer(claim: Claim, heir: Claim): Promise<Transferred> {
    if (claim.dialect) throw noHandOver(claim.dialect);
    return super.transfer(claim, heir);
  }
}
