import type { LockDialect } from './dialect-choice.js';
import { type DialectSettings, dialectSettings } from './dialect.js';
import { type Duration, type DurationBounds, milliseconds } from './duration.js';
import { LockOptionsError } from '../errors/index.js';
import { checkedLabel } from './label.js';
import { oneOf } from './option-checks.js';
import { type ModeOptions, type PermitOptions, type Share, shareOf } from './share.js';

/** How one lock is acquired and held. Durations are texts like '30s' or numbers of ms. */
export interface LockCallOptions {
  /**
   * How long a lease lasts unless it is renewed. After a crash, the lock comes free when this time is over.
   * From 50 ms to 24 hours. @default '30s'
   */
  readonly ttl?: Duration | undefined;
  /**
   * How long a call waits for the lock before it rejects with `LockNotAcquiredError`. 0 asks Redis once. `Infinity` waits
   * without a bound. From 0 up. @default '10s'
   */
  readonly wait?: Duration | undefined;
  /**
   * The most callers that may wait for the lock, this one included. Beyond, the call is refused at once with
   * `LockLimitError`. Callers of its own process count one by one. With `fairness: 'local'`, the exclusive callers of each
   * other process count as one, by the last number that Redis said. A call for several keys is refused when it begins to
   * wait for such a lock. From 1 up. @default Infinity
   */
  readonly maxWaiting?: number | undefined;
  /** Renews the lease at each third of its ttl until it is released. With false, the lease ends at its ttl. @default true */
  readonly renew?: boolean | undefined;
  /**
   * The lock stays taken for at least this long after the grant, also when the work ends earlier (ShedLock's
   * `lockAtLeastFor`). From 0 to 24 hours, at most `maxHold`; with `renew: false`, at most `ttl`. Its clock stands still
   * between `handOver` and `restore`. @default 0
   */
  readonly minHold?: Duration | undefined;
  /**
   * Renewal stops at this time after the grant, and `extend` goes no further, so that work which never ends loses the lock
   * at last: within a `ttl` after it. The time counts anew after a condition was awaited, and stands still between `handOver`
   * and `restore`. From `ttl` up. @default Infinity
   */
  readonly maxHold?: Duration | undefined;
  /**
   * Mints a fencing token with each grant. With false, `lease.fencingToken` throws `LockOptionsError`, and optimistic reads
   * do not see this holder. @default true
   */
  readonly fencing?: boolean | undefined;
  /**
   * A call inside code that holds the same lock succeeds at once, without Redis. With false, it waits like any other
   * caller. The `minHold` and `maxHold` of a call that re-enters are ignored: those of the grant count. @default true
   */
  readonly reentrant?: boolean | undefined;
  /**
   * A call that takes longer than this is logged at its end, with or without its lock. Nothing is logged by default, since
   * it depends on the work how long is too long. From 0 up. @default Infinity
   */
  readonly slowWait?: Duration | undefined;
  /**
   * A lock that is held longer than this is logged at that moment and at its end. From 0 up. It costs a timer for each hold.
   * @default Infinity
   */
  readonly slowHold?: Duration | undefined;
  /**
   * The format in which another service keeps the locks that both use. Such locks have no queue: waiting callers poll.
   * Options that a dialect does not support throw `LockOptionsError` at the call. Default: 'native'.
   */
  readonly dialect?: LockDialect | undefined;
}

/** The name of a lock in events and metrics, where its key would be one value of too many. */
export interface NameOptions {
  /**
   * Names the lock in events, metrics and spans, for all keys of its kind: `'account'` for `'account:42'`. Give no value of a
   * request. Up to 200 characters. Default: the template of a decorator, the text of ``lockKey`account:${id}` `` as
   * `account:<>` (only while something listens), else `(unnamed)`.
   */
  readonly name?: string | undefined;
  /**
   * Says whose call it is: for operators, in `inspect`, `list`, the page, the command line and events. Redis keeps it, so put
   * no secret into it. 1 to 64 characters, none of them a control character. While a process passes the lock on among its own
   * callers, `inspect` shows the label of the first of them. Default: `Class.method` under a decorator, else none.
   */
  readonly label?: string | undefined;
}

/** The options of one call: {@link LockCallOptions}, a mode, a name, a label, and a signal to cancel it. */
export interface AcquireOptions extends LockCallOptions, ModeOptions, NameOptions {
  /**
   * Cancels a waiting call, which rejects with `signal.reason` at once. A cancelled call leaves nothing: it holds no lock,
   * has no place in a queue, and a grant on its way is given back.
   * @example
   * ```ts
   * await locks.acquire('account:42', { signal: AbortSignal.timeout(2_000) });
   * ```
   */
  readonly signal?: AbortSignal | undefined;
}

/** The options of `withLock`. */
export interface WithLockOptions extends AcquireOptions {
  /**
   * The work succeeded, but its lease was lost before it ended. `'throw'` rejects with `LeaseLostError`; `'ignore'` returns
   * the result. @default 'throw'
   */
  readonly onLost?: 'throw' | 'ignore' | undefined;
}

/** {@link AcquireOptions} checked, in ms, without gaps. */
export interface CallSettings {
  readonly ttl: number;
  readonly wait: number;
  readonly maxWaiting: number;
  readonly renew: boolean;
  readonly minHold: number;
  readonly maxHold: number;
  readonly fencing: boolean;
  readonly reentrant: boolean;
  readonly slowWait: number;
  readonly slowHold: number;
  /** The name of the lock in events; undefined if nobody named it. */
  readonly name: string | undefined;
  /** What operators see of its caller; undefined if nobody labelled it. */
  readonly label: string | undefined;
  /** How many callers may hold the lock at once; undefined for an exclusive lock. */
  readonly share: Share | undefined;
  /** The format of another service; undefined for the library's own. */
  readonly dialect: DialectSettings | undefined;
  /** Set by a call for several keys until it holds them all: no event tells of its parts. No option. */
  readonly untold?: true;
}

export const CALL_DEFAULTS: CallSettings = {
  ttl: 30_000,
  wait: 10_000,
  maxWaiting: Infinity,
  renew: true,
  minHold: 0,
  maxHold: Infinity,
  fencing: true,
  reentrant: true,
  slowWait: Infinity,
  slowHold: Infinity,
  name: undefined,
  label: undefined,
  share: undefined,
  dialect: undefined,
};

const DAY = 86_400_000;

/** The bounds of every ttl, of a call and of `lease.extend`. */
export const TTL_BOUNDS: DurationBounds = { min: 50, max: DAY };

/**
 * The defaults of the most lenient module: options that contradict these are wrong on every module. A ttl that is not known
 * yet contradicts none.
 */
export const LENIENT_DEFAULTS: CallSettings = { ...CALL_DEFAULTS, ttl: NaN };

const BOUNDS: Record<
  'ttl' | 'wait' | 'minHold' | 'maxHold' | 'slowWait' | 'slowHold',
  DurationBounds
> = {
  ttl: TTL_BOUNDS,
  wait: { min: 0, max: Infinity },
  minHold: { min: 0, max: DAY },
  maxHold: { min: 50, max: Infinity },
  slowWait: { min: 0, max: Infinity },
  slowHold: { min: 0, max: Infinity },
};

/**
 * The settings of a call: `options` over `defaults`.
 * @throws LockOptionsError naming the first option that is wrong, misspelt or in conflict.
 */
export function callSettings(
  options: LockCallOptions & ModeOptions & PermitOptions & NameOptions,
  defaults: CallSettings,
  allowed: readonly string[] = ['signal', 'mode', 'name', 'label'],
): CallSettings {
  const settings: Record<string, unknown> = { ...defaults };
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    if (allowed.includes(name)) {
      if (name === 'name') settings[name] = checkedName(value);
      else if (name === 'label') settings[name] = checkedLabel(value);
      else if (name === 'onLost') oneOf('"onLost"', value as string, ON_LOST);
    } else if (name === 'dialect') {
      settings[name] = dialectSettings(value);
    } else if (name === 'maxWaiting') {
      settings[name] = checkedMaxWaiting(value);
    } else if (name in BOUNDS) {
      settings[name] = milliseconds(name, value, BOUNDS[name as keyof typeof BOUNDS]);
    } else if (typeof defaults[name as keyof CallSettings] === 'boolean') {
      if (typeof value !== 'boolean')
        throw new LockOptionsError(`Option "${name}" takes true or false.`);
      settings[name] = value;
    } else if (name === 'permits') {
      throw new LockOptionsError(
        'Option "permits" stands in @Locked alone. In code: locks.semaphore(name, { permits }), then acquire() or withPermit().',
      );
    } else {
      throw new LockOptionsError(
        `There is no option "${name}". Options: ${[...Object.keys(CALL_DEFAULTS).filter((known) => !HIDDEN.includes(known)), ...allowed].join(', ')}.`,
      );
    }
  }
  settings['share'] = shareOf(options);
  const result = settings as unknown as CallSettings;
  if (result.dialect) checkDialect(result.dialect, result, options);
  if (result.maxHold < result.ttl) {
    throw new LockOptionsError('Option "maxHold" must be at least "ttl".');
  }
  if (result.minHold > result.maxHold) {
    throw new LockOptionsError('Option "minHold" must be at most "maxHold".');
  }
  if (!result.renew && result.minHold > result.ttl) {
    throw new LockOptionsError('Option "minHold" must be at most "ttl" where "renew" is false.');
  }
  return result;
}

/** The values of option "onLost". */
export const ON_LOST: readonly string[] = ['throw', 'ignore'];

/** The settings that are not options of every call. */
const HIDDEN = ['share', 'name', 'label'];

function checkedMaxWaiting(value: unknown): number {
  if (value === Infinity || (Number.isSafeInteger(value) && (value as number) >= 1)) {
    return value as number;
  }
  throw new LockOptionsError(
    'Option "maxWaiting" takes a whole number from 1, or Infinity. A call that shall not wait at all has "wait: 0".',
  );
}

const LONGEST_NAME = 200;

function checkedName(name: unknown): string {
  if (typeof name === 'string' && name !== '' && name.length <= LONGEST_NAME) return name;
  throw new LockOptionsError(
    `Option "name" takes a text of 1 to ${LONGEST_NAME} characters that names all locks of this kind.`,
  );
}

/** @throws LockOptionsError for an option that the dialect does not support. */
export function checkDialect(
  dialect: DialectSettings,
  { share, minHold, maxWaiting }: CallSettings,
  { fencing, permits }: LockCallOptions & PermitOptions,
): void {
  const wanted: Record<string, boolean> = {
    permits: permits !== undefined,
    "mode: 'shared'": share !== undefined && !dialect.shared,
    minHold: minHold > 0 && !dialect.minHold,
    maxWaiting: maxWaiting < Infinity,
    'fencing: true': fencing === true && !dialect.fencing,
  };
  const cannot = Object.keys(wanted).find((option) => wanted[option]);
  if (cannot === undefined) return;
  throw new LockOptionsError(
    `Dialect "${dialect.name}" does not support "${cannot}". Leave it out, or use dialect 'native' for this lock.`,
  );
}
