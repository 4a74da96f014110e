import type { LockDialect } from '../../../lib/engine/options/index.js';

/** One client of another library: asks once, and remembers what it holds by the lock's name. */
export interface PeerClient {
  /** True if it holds the lock now. */
  acquire(name: string, ttl: number): Promise<boolean>;
  /** False, or an error, if the lock was not its own any more. */
  release(name: string): Promise<boolean>;
  /** Waits for the lock as the library does, for a minute or for ever, woken by what that is woken by; where it `waits`. */
  wait?(name: string): Promise<boolean>;
  /** Ends, without giving anything back. */
  close(): Promise<void>;
}

/** A critical section of a process of theirs, on the monotonic clock. */
export interface Turn {
  readonly from: number;
  readonly to: number;
  readonly released: boolean;
}

/** Another service with locks of its own, and the dialect in which we share them. */
export interface Peer {
  readonly name: string;
  readonly dialect: LockDialect;
  /** The shortest lease it can take, in ms. */
  readonly shortest: number;
  /** Its clients can wait, until we or they wake them. */
  readonly waits?: boolean;
  /** Why it cannot be tested here; undefined where it can. */
  readonly missing: string | undefined;
  /** With several servers, as a library of Redlocks does. */
  connect(...urls: readonly string[]): Promise<PeerClient>;
}
