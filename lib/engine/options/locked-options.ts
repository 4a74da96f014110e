import { LockOptionsError } from '../errors/index.js';
import { type LockCallOptions, type NameOptions, ON_LOST } from './call-options.js';
import type { ModeOptions, PermitOptions } from './share.js';

/** A call that did not get its lock within `wait`. */
export interface BusyContext {
  readonly key: string;
  readonly args: readonly unknown[];
}

/** What a decorated method does when its lock is busy, is lost, or Redis fails. */
export interface LockedPolicy {
  /**
   * The lock was not free within `wait`, or as many callers waited as `maxWaiting` says. `'throw'` rejects with
   * `LockNotAcquiredError` or `LockLimitError`. `'skip'` returns undefined, at once unless `wait` is given. A function's
   * result stands for the method's. For a method that streams, it returns an Observable, an AsyncIterable or one value.
   * @default 'throw'
   */
  readonly onBusy?: 'throw' | 'skip' | ((context: BusyContext) => unknown) | undefined;
  /**
   * The method succeeded, but its lease was lost before it ended. `'throw'` rejects with `LeaseLostError`; `'ignore'`
   * returns the result. @default 'throw'
   */
  readonly onLost?: 'throw' | 'ignore' | undefined;
  /**
   * Redis failed. `'throw'` rejects with `LockStoreError`. `'proceed'` runs the method without the lock, also for a caller
   * that was waiting when Redis failed. A `ForeignLockError` is thrown in any case. @default 'throw'
   */
  readonly onUnavailable?: 'throw' | 'proceed' | undefined;
}

export const POLICY_DEFAULTS = {
  onBusy: 'throw',
  onLost: 'throw',
  onUnavailable: 'throw',
} as const satisfies LockedPolicy;

/** The options of `@Locked`. */
export interface LockedOptions<Args extends readonly unknown[] = never[]>
  extends LockCallOptions, ModeOptions, PermitOptions, Omit<NameOptions, 'label'>, LockedPolicy {
  /**
   * Says whose call it is: for operators, in `inspect`, `list`, the page, the command line and events. A text, or a function
   * of the method's arguments. Redis keeps it, so put no secret into it. 1 to 64 characters, none of them a control character.
   * While a process passes the lock on among its own callers, `inspect` shows the label of the first of them.
   * Default: `Class.method`.
   */
  readonly label?: string | ((...args: Args) => string) | undefined;
  /** The `name` of the RedisLockModule to use. Default: the module without a name. */
  readonly module?: string | undefined;
  /**
   * The kind of value that the method returns. The decorator reads it from the declared return type. Give it where that
   * type is an interface of yours, or where another decorator below hides it.
   */
  readonly returns?: 'promise' | 'observable' | 'iterable' | undefined;
  /**
   * On HTTP: a request whose client is gone while it waits for the lock leaves the queue. Its handler does not start, and
   * the request ends with an `HttpException` of status 499. A handler that runs goes on. @default true under
   * `@LockedRequest`; false under `@Locked`, where it stands on routes only
   */
  readonly leaveWithClient?: boolean | undefined;
}

const ALLOWED = {
  onBusy: ['throw', 'skip'],
  onLost: ON_LOST,
  onUnavailable: ['throw', 'proceed'],
  returns: ['promise', 'observable', 'iterable'],
} as const;

/** The options of a decorator beside {@link LockCallOptions}. */
export const POLICY_OPTIONS = [
  'mode',
  'permits',
  'name',
  'label',
  'module',
  'leaveWithClient',
  ...Object.keys(ALLOWED),
];

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
  if (!['undefined', 'boolean'].includes(typeof options.leaveWithClient)) {
    throw new LockOptionsError('Option "leaveWithClient" takes true or false.');
  }
  if (options.module !== undefined && typeof options.module !== 'string') {
    throw new LockOptionsError('Option "module" takes the name of a RedisLockModule.');
  }
}
