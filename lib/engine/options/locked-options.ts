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
   * The lock was not free within `wait`, or as many wait as `maxWaiting` says. `'throw'`: `LockNotAcquiredError`,
   * `LockLimitError`. `'skip'` returns undefined, at once unless `wait` is given; the method returns `Promise<void>` or
   * `Promise<… | undefined>`. A function gets `{ key, args }`; its result is returned.
   *
   * For a method that streams, the function returns an Observable, an AsyncIterable or one value.
   * @default 'throw'
   */
  readonly onBusy?: 'throw' | 'skip' | ((context: BusyContext) => unknown) | undefined;
  /**
   * `'ignore'` keeps the result of work that succeeded after its lease was lost; `'throw'` rejects with `LeaseLostError`.
   * @default 'throw'
   */
  readonly onLost?: 'throw' | 'ignore' | undefined;
  /**
   * What happens on any `LockStoreError`. `'throw'`: it is thrown. `'proceed'`: the method runs without a lock, maybe
   * beside who holds it; also for a caller that queued when Redis failed. Nobody proceeds over a foreign value at the key.
   *
   * A `ForeignLockError` is thrown in any case.
   * @default 'throw'
   * @see who holds it in docs/operations.md#start-with-redis-down
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
   * Says to operators whose call it is: a text, or a function of the method's arguments.
   *
   * In `inspect`, `list`, the page, the command line and events. Redis keeps it, so put no secret into it. 1 to 64
   * characters, none of them a control character. While a process passes the lock on among its own callers, `inspect` shows
   * the label of the first of them.
   * @default `Class.method`
   */
  readonly label?: string | ((...args: Args) => string) | undefined;
  /**
   * The `name` of the `RedisLockModule` to use.
   *
   * Default: the module without a name.
   */
  readonly module?: string | undefined;
  /**
   * `'promise'`, `'observable'` or `'iterable'`, where the method's declared type does not show it.
   *
   * The decorator reads the kind of value from that type. Give it where the type is an interface of yours, or where another
   * decorator below hides it.
   * @default from the type
   */
  readonly returns?: 'promise' | 'observable' | 'iterable' | undefined;
  /**
   * A request whose client is gone leaves the queue. Under `@Locked` on routes only.
   *
   * On HTTP: a request that waits for the lock. Its handler does not start, and the request ends with an `HttpException` of
   * status 499. A handler that runs goes on.
   * @default true under `@LockedRequest`, else false
   * @see leaves the queue in docs/decorator.md#requests
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
