import { noDowngrade, noHandOver } from '../locks/dialects/refusals.js';
import type { Transferred } from '../locks/lock-primitive.js';
import type { LockRequest } from '../locks/lock-request.js';
import { Modes } from '../locks/modes.js';

/**
 * Our own locks and those in other services' formats, in memory: each of those is a lock of its own, apart from ours of
 * that name, but nobody else is there and nothing is written in that format. Waiters queue as for ours. Refused is what
 * is refused on Redis.
 */
export class MemoryDialects extends Modes {
  override async downgrade(request: LockRequest): Promise<boolean> {
    if (request.dialect) throw noDowngrade(request.dialect);
    return super.downgrade(request);
  }

  override async transfer(request: LockRequest, heir: LockRequest): Promise<Transferred> {
    if (request.dialect) throw noHandOver(request.dialect);
    return super.transfer(request, heir);
  }
}
