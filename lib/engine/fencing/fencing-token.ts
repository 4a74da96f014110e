import { LockOptionsError } from '../errors/index.js';
import type { Lease } from '../client/leases/lease.js';

/** The token of a writer: its lease, or the fencing token alone, as it came in a message or a header. */
export type FencingTokenSource = Pick<Lease, 'key' | 'fencingToken'> | number;

/**
 * The fencing token of a writer, and the key of its lock if that is known.
 * @throws LockOptionsError if `source` is no token, or the lock was taken with `fencing: false`.
 */
export function tokenOf(source: FencingTokenSource): { token: number; key: string | undefined } {
  const isLease = typeof source === 'object' && source !== null;
  const token = isLease ? source.fencingToken : source;
  if (!Number.isSafeInteger(token) || token < 0) {
    throw new LockOptionsError(
      'A fencing token is a lease, or its fencingToken: a whole number from 0.',
    );
  }
  return { token, key: isLease ? source.key : undefined };
}
