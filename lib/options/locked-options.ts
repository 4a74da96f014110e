import { LockOptionsError } from '../errors/index.js';
import type { LockCallOptions } from './call-options.js';
import type { ModeOptions, PermitOptions } from './share.js';

/** A call that found its lock taken. */
export interface BusyContext {
  readonly key: string;
  readonly args: readonly unknown[];
}

/** What happens when a decorated method's lock is not free in time, cannot be asked for, or is lost. */
export interface LockedPolicy {
  /**
   * The lock was not free within `wait`: throw `LockNotAcquiredError`; `'skip'` the call, it returns
   * undefined and does not wait unless `wait` stands beside; or a function's result instead, from a
   * method that streams its values: an Observable or AsyncIterable, or one value. @default 'throw'
   */
  readonly onBusy?: 'throw' | 'skip' | ((context: BusyContext) => unknown) | undefined;
  /** The body succeeded, but its lease was lost on the way. @default 'throw' */
  readonly onLost?: 'throw' | 'ignore' | undefined;
  /**
   * Redis failed: throw `LockStoreError`, or `'proceed'` without the lock. A caller who was
   * waiting for a holder when Redis failed proceeds too; over a foreign value nobody does. @default 'throw'
   */
  readonly onUnavailable?: 'throw' | 'proceed' | undefined;
}

export const POLICY_DEFAULTS = {
  onBusy: 'throw',
  onLost: 'throw',
  onUnavailable: 'throw',
} as const satisfies LockedPolicy;

/** The options of `@Locked`. */
export interface LockedOptions extends LockCallOptions, ModeOptions, PermitOptions, LockedPolicy {
  /** The `name` of the RedisLockModule to use; without it, the unnamed one. */
  readonly module?: string | undefined;
  /**
   * What the method returns. Found from its declared type: say it where that is hidden, by an
   * interface or by a wrapper beneath.
   */
  readonly returns?: 'promise' | 'observable' | 'iterable' | undefined;
}

/** What stands beside {@link LockCallOptions} in the options of a decorator. */
export const POLICY_OPTIONS = [
  'mode',
  'permits',
  'onBusy',
  'onLost',
  'onUnavailable',
  'module',
  'returns',
] as const;

const ALLOWED = {
  onBusy: ['throw', 'skip'],
  onLost: ['throw', 'ignore'],
  onUnavailable: ['throw', 'proceed'],
  returns: ['promise', 'observable', 'iterable'],
} as const;

/** @throws LockOptionsError naming the first option of a decorator's own that is wrong. */
export function checkPolicy(options: LockedOptions): void {
  for (const [name, allowed] of Object.entries(ALLOWED)) {
    const value = options[name as keyof typeof ALLOWED];
    if (value === undefined || (allowed as readonly unknown[]).includes(value)) continue;
    if (name === 'onBusy' && typeof value === 'function') continue;
    const choice = allowed.map((word) => `'${word}'`).join(', ');
    throw new LockOptionsError(
      `Option "${name}" takes ${choice}${name === 'onBusy' ? ' or a function' : ''}.`,
    );
  }
  if (options.module !== undefined && typeof options.module !== 'string') {
    throw new LockOptionsError('Option "module" takes the name of a RedisLockModule.');
  }
}
