import {
  LeaseLostError,
  type LockError,
  LockStoreError,
  type LossReason,
} from '../../lib/engine/errors/index.js';
import type { CommandOutcome } from '../../lib/engine/errors/store-errors.js';
import type { Pause } from './attention.js';
import type { Fault } from './faults.js';
import type { Way } from './player.js';

/** An error of the library in which a caller's way to lock ended, or which its lease was lost to. */
export interface Failure {
  /** Of its class. */
  readonly code: string;
  readonly said: string;
  /** Of a lease that was lost. */
  readonly reason?: LossReason;
  /** Of a failure of the store. */
  readonly outcome?: CommandOutcome;
  readonly way: Way;
  /** When that way began. */
  readonly from: number;
  readonly at: number;
  /** The application of the caller was closed, or about to be. */
  readonly closing: boolean;
}

/** A fault, from its begin until all had a lock again. */
export interface Stroke {
  readonly fault: Fault;
  readonly from: number;
  readonly to: number;
}

/** What else happened in a history. */
export interface Circumstances {
  /** When each process had a lock for the first time: before, a server that must not forget grants none for a while. */
  readonly started: number;
  readonly strokes: readonly Stroke[];
  /** When nothing ran in one of its processes. */
  readonly pauses: readonly Pause[];
  /** Its servers wait for a disk, or for each other, so that no pause of a process tells whether they are late. */
  readonly lateAlone: boolean;
  /** Its servers replace each other, also one that is only late. */
  readonly failsOver: boolean;
}

/** For how long what is over may still be the cause of what fails, in ms. */
const AFTERMATH = 10_000;

export function described(error: LockError): Pick<Failure, 'code' | 'said' | 'reason' | 'outcome'> {
  return {
    code: error.code,
    said: error.message,
    ...(error instanceof LeaseLostError && { reason: error.reason }),
    ...(error instanceof LockStoreError && { outcome: error.outcome }),
  };
}

/** Failures that nothing explains. */
export function unexplained(
  failures: readonly Failure[],
  circumstances: Circumstances,
): readonly string[] {
  return failures
    .filter((failure) => !isExplained(failure, circumstances))
    .map(({ way, said, from, at }) => `${way} from ${from} to ${at}: ${said}`);
}

function isExplained(failure: Failure, circumstances: Circumstances): boolean {
  switch (failure.code) {
    case 'LOCK_NOT_ACQUIRED': // that it waited long enough is seen where it waited
      return true;
    case 'LOCK_SHUTDOWN':
      return failure.closing;
    case 'LEASE_LOST':
      return isLossExplained(failure, circumstances);
    case 'LOCK_STORE':
    case 'QUORUM_NOT_REACHED':
    case 'REPLICAS_NOT_REACHED':
      return failure.outcome === 'refused'
        ? mayBeRefused(failure, circumstances)
        : mayBeLate(failure, circumstances);
    default:
      return false;
  }
}

function isLossExplained(failure: Failure, circumstances: Circumstances): boolean {
  switch (failure.reason) {
    case 'shutdown':
    case 'released': // by the shutdown
      return failure.closing;
    case 'forced':
      return isNear(failure, circumstances, ({ name }) => name === 'an operator forces locks');
    case 'gone':
    case 'expired':
    case 'taken':
      // Of a lease that was handed over little may be left, and another may have restored it.
      return failure.way === 'restore' || mayBeLate(failure, circumstances);
    case 'unconfirmed':
      return mayBeLate(failure, circumstances);
    default:
      return false;
  }
}

/** Whether a command, or its answer, may have come too late, or never. */
function mayBeLate(failure: Failure, circumstances: Circumstances): boolean {
  return (
    circumstances.lateAlone ||
    failure.from < circumstances.started ||
    isNearPause(failure, circumstances) ||
    isNear(failure, circumstances, ({ keepsOrder }) => !keepsOrder)
  );
}

/** Whether a server may have refused a command that was right. */
function mayBeRefused(failure: Failure, circumstances: Circumstances): boolean {
  return (
    (circumstances.failsOver && isNearPause(failure, circumstances)) ||
    isNear(failure, circumstances, ({ atServers }) => atServers === true)
  );
}

function isNearPause(failure: Failure, { pauses }: Circumstances): boolean {
  return pauses.some(({ at, ms }) => meets(failure, at - ms, at));
}

function isNear(
  failure: Failure,
  { strokes }: Circumstances,
  isCause: (fault: Fault) => boolean,
): boolean {
  return strokes.some(({ fault, from, to }) => isCause(fault) && meets(failure, from, to));
}

function meets({ from, at }: Failure, begin: number, end: number): boolean {
  return begin <= at && end + AFTERMATH >= from;
}
