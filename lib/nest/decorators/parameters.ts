import { LockOptionsError } from '../../engine/errors/index.js';
import { addLast } from '../services/metadata.js';

/** Metadata on (class, method): parameters named by `@LockKey`, as [name, index] pairs. */
export const LOCK_KEY_METADATA = Symbol('nest-redis-lock:lock-key');
/** Metadata on (class, method): positions of `@CurrentLease`. */
const CURRENT_LEASE_METADATA = Symbol('nest-redis-lock:current-lease');

/**
 * Names a parameter for the key of `@Locked`, so that no minifier and no wrapper beneath changes the name.
 * @example `@Locked('account:<id>') async withdraw(@LockKey('id') accountId: string): Promise<void> {}`
 * @throws LockOptionsError on a parameter of a constructor.
 */
export function LockKey(name: string): ParameterDecorator {
  return (target, method, index) => add(LOCK_KEY_METADATA, target, method, [name, index]);
}

/**
 * Marks a parameter that `@Locked` or `@LeaderOnly` fills with the lease, on routes too. The lease is undefined only where the
 * call proceeds without a lock (`onUnavailable: 'proceed'`).
 * @example `@Locked('account:<id>') async withdraw(id: string, @CurrentLease() lease?: Lease): Promise<void> {}`
 */
export function CurrentLease(): ParameterDecorator {
  return (target, method, index) => add(CURRENT_LEASE_METADATA, target, method, index);
}

function add(
  metadata: symbol,
  prototype: object,
  method: string | symbol | undefined,
  entry: unknown,
): void {
  if (method === undefined)
    throw new LockOptionsError(
      '@LockKey and @CurrentLease stand on parameters of methods, not of constructors.',
    );
  addLast(metadata, entry, prototype.constructor, method);
}

/** The positions of `@CurrentLease` among a method's parameters. */
export function leaseParameters(prototype: object, method: string | symbol): readonly number[] {
  return (Reflect.getOwnMetadata(CURRENT_LEASE_METADATA, prototype.constructor, method) ??
    []) as number[];
}

/** Returns the arguments with the lease at the given positions. */
export function argumentsWith(
  args: unknown[],
  positions: readonly number[],
  lease: unknown,
): unknown[] {
  if (positions.length === 0) return args;
  const filled = [...args];
  for (const position of positions) filled[position] = lease;
  return filled;
}
