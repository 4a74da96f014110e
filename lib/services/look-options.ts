import { LockOptionsError } from '../errors/index.js';
import {
  checkStore,
  type DialectSettings,
  dialectSettings,
  type LockDialect,
  type ModuleSettings,
} from '../options/index.js';

/** What `inspect`, `list` and `forceRelease` of `LockService` take. */
export interface LookOptions {
  /** The format of the lock, as `acquire` was given it. Without it the module's. */
  readonly dialect?: LockDialect | undefined;
}

/**
 * In whose format a lock is looked for; undefined: ours.
 * @throws LockOptionsError when there is no such dialect or option, or the module's store has no locks of others.
 */
export function dialectOf(
  options: LookOptions & { readonly limit?: number | undefined },
  settings: ModuleSettings,
): DialectSettings | undefined {
  const { dialect: given, limit: _limit, ...others } = options;
  const [other] = Object.keys(others);
  if (other !== undefined) throw new LockOptionsError(`There is no option "${other}" here.`);
  const dialect = given === undefined ? settings.call.dialect : dialectSettings(given);
  if (dialect) checkStore(dialect, settings);
  return dialect;
}
