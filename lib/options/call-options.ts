import type { LockDialect } from './dialect-choice.js';
import { type DialectSettings, dialectSettings } from './dialect.js';
import { type Duration, type DurationBounds, milliseconds } from './duration.js';
import { LockOptionsError } from '../errors/index.js';
import { type ModeOptions, type PermitOptions, type Share, shareOf } from './share.js';

/** How one lock is asked for and held. */
export interface LockCallOptions {
  /** How long a lease lasts unless it is renewed. @default '30s' */
  readonly ttl?: Duration | undefined;
  /** How long to queue for the lock; 0 asks once, `Infinity` never gives up. @default '10s' */
  readonly wait?: Duration | undefined;
  /** Renew at a third of the ttl until released; false: the lease ends at its ttl. @default true */
  readonly renew?: boolean | undefined;
  /** The lock stays taken at least this long, although the work ended (ShedLock's lockAtLeastFor). @default 0 */
  readonly minHold?: Duration | undefined;
  /** Renewal stops this long after the grant: a stuck holder loses the lock at last. @default Infinity */
  readonly maxHold?: Duration | undefined;
  /** Mint a fencing token with each grant. False: `lease.fencingToken` throws, and optimistic reads do not see this holder. @default true */
  readonly fencing?: boolean | undefined;
  /** Within a section that holds the same lock, run without asking Redis. False: wait like anybody. @default true */
  readonly reentrant?: boolean | undefined;
  /** How another service writes the locks that it and this one share; its waiters know no queue, so there is none. Without it `'native'`. */
  readonly dialect?: LockDialect | undefined;
}

/** {@link LockCallOptions} of one call, which may be cancelled. */
export interface AcquireOptions extends LockCallOptions, ModeOptions {
  /** Aborted while waiting: the call rejects at once with `signal.reason` and leaves nothing behind. */
  readonly signal?: AbortSignal | undefined;
}

/** {@link AcquireOptions} checked, in ms, without gaps. */
export interface CallSettings {
  readonly ttl: number;
  readonly wait: number;
  readonly renew: boolean;
  readonly minHold: number;
  readonly maxHold: number;
  readonly fencing: boolean;
  readonly reentrant: boolean;
  /** With whom the lock is shared; undefined: with nobody. */
  readonly share: Share | undefined;
  /** In whose format it is written; undefined: ours. */
  readonly dialect: DialectSettings | undefined;
}

export const CALL_DEFAULTS: CallSettings = {
  ttl: 30_000,
  wait: 10_000,
  renew: true,
  minHold: 0,
  maxHold: Infinity,
  fencing: true,
  reentrant: true,
  share: undefined,
  dialect: undefined,
};

const DAY = 86_400_000;

/** What every ttl must keep, of a call or of an extension. */
export const TTL_BOUNDS: DurationBounds = { min: 50, max: DAY };

const BOUNDS: Record<'ttl' | 'wait' | 'minHold' | 'maxHold', DurationBounds> = {
  ttl: TTL_BOUNDS,
  wait: { min: 0, max: Infinity },
  minHold: { min: 0, max: DAY },
  maxHold: { min: 50, max: Infinity },
};

/**
 * The settings of a call: `options` over `defaults`.
 * @throws LockOptionsError naming the first option that is wrong, misspelt or in conflict.
 */
export function callSettings(
  options: LockCallOptions & ModeOptions & PermitOptions,
  defaults: CallSettings,
  allowed: readonly string[] = ['signal', 'mode'],
): CallSettings {
  const settings: Record<string, unknown> = { ...defaults };
  for (const [name, value] of Object.entries(options)) {
    if (allowed.includes(name) || value === undefined) continue;
    if (name === 'dialect') {
      settings[name] = dialectSettings(value);
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
        `There is no option "${name}". Options: ${[...Object.keys(CALL_DEFAULTS).filter((known) => known !== 'share'), ...allowed].join(', ')}.`,
      );
    }
  }
  settings['share'] = shareOf(options);
  const result = settings as unknown as CallSettings;
  if (result.dialect) checkDialect(result.dialect, result, options);
  if (result.maxHold < result.ttl) {
    throw new LockOptionsError('Option "maxHold" is shorter than "ttl": no lease would end by it.');
  }
  if (result.minHold > result.maxHold) {
    throw new LockOptionsError('Option "minHold" is longer than "maxHold".');
  }
  return result;
}

/** @throws LockOptionsError when something is asked for that the other side's format has no words for. */
function checkDialect(
  dialect: DialectSettings,
  { share, minHold }: CallSettings,
  { fencing, permits }: LockCallOptions & PermitOptions,
): void {
  const cannot =
    permits !== undefined
      ? 'permits'
      : share && !dialect.shared
        ? "mode: 'shared'"
        : minHold > 0 && !dialect.minHold
          ? 'minHold'
          : fencing === true && !dialect.fencing
            ? 'fencing: true'
            : undefined;
  if (cannot === undefined) return;
  throw new LockOptionsError(
    `Dialect "${dialect.name}" has no "${cannot}": its other users do not know it. Leave it out, or use dialect 'native' for this lock.`,
  );
}
