import { LockUpgradeError } from '../errors/index.js';
import { isSameLock } from '../locks/lock-id.js';
import { type CallSettings, type Clock, isReader } from '../options/index.js';
import type { BaseLease } from './base-lease.js';
import type { HeldLocks } from './held-locks.js';
import { Section } from './section.js';
import { SingleLease } from './single-lease.js';

/** The same lock once more, for code that runs inside a section that holds it; the store is not asked. */
export class Reentry {
  constructor(
    private readonly heldLocks: HeldLocks,
    private readonly clock: Clock,
  ) {}

  /** The innermost section around the running code: on `key`, or any. */
  current(key?: string): Section | undefined {
    return Section.current(this.heldLocks, (request) => key === undefined || request.key === key);
  }

  /**
   * The section that a call may enter again. Of a semaphore one takes one more permit.
   * @throws LockUpgradeError if it is shared and the call is not.
   */
  section(key: string, { reentrant, share, dialect }: CallSettings): Section | undefined {
    if (!reentrant || (share && !isReader(share))) return undefined;
    const section = Section.current(this.heldLocks, (request) =>
      isSameLock(request, { key, dialect }),
    );
    const held = section?.heldLock.request.share;
    if (!section || !held) return section;
    if (!isReader(held)) return undefined;
    if (!share && section.heldLock.held) throw new LockUpgradeError(key);
    return section;
  }

  /** Undefined if its lease has been given back while the call waited for its siblings. */
  async enter(
    section: Section,
    call: CallSettings,
    signal: AbortSignal | undefined,
  ): Promise<BaseLease | undefined> {
    const leaveTurn = await section.enter(call, signal, this.clock);
    if (!leaveTurn) return undefined;
    const lease = new SingleLease(this.heldLocks, section.heldLock, leaveTurn);
    if (lease.held) return lease;
    await lease.release();
    throw section.heldLock.lossError();
  }
}
