import type { LockDialect } from './dialect-choice.js';
import { type LockFormat, lockFormat, NATIVE } from './lock-format.js';
import { type Duration, type DurationBounds, milliseconds } from './duration.js';
import { LockOptionsError } from '../errors/index.js';
import { checkedLabel } from './label.js';
import { oneOf } from './option-checks.js';
import { type ModeOptions, type PermitOptions, type Share, shareOf } from './share.js';

/** How one lock is acquired and held. Durations are texts like '30s' or numbers of ms. */
export interface LockCallOptions {
  /**
   * How long a lease lasts unless it is renewed. A crashed process keeps its lock for this long.
   * @range 50 ms to 24 h
   * @default '30s'
   */
  readonly ttl?: Duration | undefined;
  /**
   * How long a call queues: `0` asks once, `Infinity` waits as long as others hold the lock. An outage ends the call all
   * the same.
   *
   * Then it rejects with `LockNotAcquiredError`.
   * @range from 0
   * @default '10s'
   * @see outage in docs/operations.md#outage
   */
  readonly wait?: Duration | undefined;
  /**
   * How many callers may wait for the lock at most: one more is refused at once with `LockLimitError`, HTTP 429. With
   * `permits`, all callers count, over all replicas. With `fairness: 'local'`, the exclusive callers of another process
   * count as one. Not with `nodes` or a dialect, which have no queue.
   *
   * The callers of its own process count one by one, those of others by the last number that Redis said. A call for several
   * keys is refused when it begins to wait for such a lock.
   * @range from 1
   * @default Infinity
   * @see `LockLimitError` in docs/errors.md
   */
  readonly maxWaiting?: number | undefined;
  /**
   * Renews the lease until it is released. With false, it ends at its `ttl`.
   *
   * It is renewed at each third of its `ttl`.
   * @default true
   */
  readonly renew?: boolean | undefined;
  /**
   * How long the lock stays taken at least, although the work ended. At most `maxHold`; with `renew: false`, at most `ttl`.
   *
   * ShedLock's `lockAtLeastFor`. It counts from the grant, without the time between `handOver` and `restore`.
   * @range 0 to 24 h
   * @default 0
   */
  readonly minHold?: Duration | undefined;
  /**
   * When renewal stops after the grant, and how far `extend` goes: a stuck holder loses its lock at last, within a `ttl`
   * after it.
   *
   * The time between `handOver` and `restore` does not count. It counts anew after a condition was awaited.
   * @range from `ttl`
   * @default Infinity
   */
  readonly maxHold?: Duration | undefined;
  /**
   * Mints a fencing token with each grant. With false, optimistic reads do not see this holder.
   *
   * `lease.fencingToken` throws `LockOptionsError` then.
   * @default true
   */
  readonly fencing?: boolean | undefined;
  /**
   * A call inside code that holds the lock has it at once, with the `minHold` and `maxHold` of the grant; its own are
   * ignored. With false, it waits like any other.
   *
   * Redis is not asked.
   * @default true
   */
  readonly reentrant?: boolean | undefined;
  /**
   * A call that takes longer is logged at its end, with or without its lock.
   *
   * Nothing is logged by default, since it depends on the work how long is too long.
   * @range from 0
   * @default Infinity
   */
  readonly slowWait?: Duration | undefined;
  /**
   * A lock that is held longer is logged at that moment, and at its end. Without it nothing is said of a lease that nobody
   * gives back: it is renewed until its process ends, or until `maxHold`.
   *
   * A restored lease has that of its module. It costs a timer for each hold.
   * @range from 0
   * @default Infinity
   */
  readonly slowHold?: Duration | undefined;
  /**
   * In whose format the lock is written: that of another service, which uses the same locks.
   *
   * Such locks have no queue: waiting callers poll. Options that a dialect does not support throw `LockOptionsError` at the
   * call.
   * @default 'native'
   * @see another service in docs/other-services.md
   */
  readonly dialect?: LockDialect | undefined;
}

/** The name of a lock in events and metrics, where its key would be one value of too many. */
export interface NameOptions {
  /**
   * What events, metrics and spans call the lock, for all keys of its kind.
   *
   * `'account'` for `'account:42'`; give no value of a request. Default: the template of a decorator, the text of
   * ``lockKey`account:${id}` `` as `account:<>` (only while something listens), else `(unnamed)`.
   * @range 1 to 200 characters
   * @see events in docs/events.md#names
   */
  readonly name?: string | undefined;
  /**
   * Says to operators whose call it is, in `inspect` and `list`, the page, the command line and events. No control
   * characters; Redis keeps it, so no secret.
   *
   * While a process passes the lock on among its own callers, `inspect` shows the label of the first of them. Default:
   * `Class.method` under a decorator, else none.
   * @range 1 to 64 characters
   * @see `inspect` and `list` in docs/service.md#look-and-release
   */
  readonly label?: string | undefined;
}

/** The options of one call: {@link LockCallOptions}, a mode, a name, a label, and a signal to cancel it. */
export interface AcquireOptions extends LockCallOptions, ModeOptions, NameOptions {
  /**
   * Cancels a waiting call, which rejects with `signal.reason` and leaves nothing behind.
   *
   * A cancelled call holds no lock, has no place in a queue, and a grant on its way is given back.
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
   * `'ignore'` keeps the result of work that succeeded after its lease was lost; `'throw'` rejects with `LeaseLostError`.
   * @default 'throw'
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
  /** How the lock is written in Redis. */
  readonly format: LockFormat;
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
  format: NATIVE,
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
      settings['format'] = lockFormat(value);
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
        'Option "permits" stands in @Locked and @LockedRequest alone. In code: locks.semaphore(name, { permits }), then acquire() or withPermit().',
      );
    } else {
      throw new LockOptionsError(
        `There is no option "${name}". Options: ${[...Object.keys(CALL_DEFAULTS).filter((known) => !HIDDEN.includes(known)), 'dialect', ...allowed].join(', ')}.`,
      );
    }
  }
  settings['share'] = shareOf(options);
  const result = settings as unknown as CallSettings;
  checkAbilities(result, options);
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
const HIDDEN = ['share', 'name', 'label', 'format'];

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

/** @throws LockOptionsError for an option that the format of the lock does not support. */
export function checkAbilities(
  { format, share, minHold, maxWaiting }: CallSettings,
  { fencing, permits }: LockCallOptions & PermitOptions,
): void {
  const wanted: Record<string, boolean> = {
    permits: permits !== undefined && !format.queue,
    "mode: 'shared'": share !== undefined && !format.shared,
    minHold: minHold > 0 && !format.minHold,
    maxWaiting: maxWaiting < Infinity && !format.queue,
    'fencing: true': fencing === true && !format.fencing,
  };
  const cannot = Object.keys(wanted).find((option) => wanted[option]);
  if (cannot === undefined) return;
  throw new LockOptionsError(
    `Dialect "${format.name}" does not support "${cannot}". Leave it out, or use dialect 'native' for this lock.`,
  );
}
