import { CURRENT_LEASE_METADATA } from '../redis-lock.constants.js';

/** Where a method takes its lease: the positions of `@CurrentLease`. */
export function leaseParameters(prototype: object, method: string | symbol): readonly number[] {
  return (Reflect.getOwnMetadata(CURRENT_LEASE_METADATA, prototype.constructor, method) ??
    []) as number[];
}

/** The arguments with the lease in those positions. */
export function withLease(
  args: unknown[],
  positions: readonly number[],
  lease: unknown,
): unknown[] {
  if (positions.length === 0) return args;
  const filled = [...args];
  for (const position of positions) filled[position] = lease;
  return filled;
}
