import { LockOptionsError } from '../../errors/index.js';
import type { DialectSettings } from '../../options/index.js';

/** No other format turns a writer into a reader without a gap. */
export function noDowngrade({ name }: DialectSettings): LockOptionsError {
  return new LockOptionsError(
    `A lock in dialect "${name}" cannot be downgraded: release it and acquire it shared, where the dialect has that.`,
  );
}

/** No other format puts another holder in one's place. */
export function noHandOver({ name }: DialectSettings): LockOptionsError {
  return new LockOptionsError(`A lease in dialect "${name}" cannot be handed over.`);
}
