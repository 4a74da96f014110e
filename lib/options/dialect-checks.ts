import { LockOptionsError } from '../errors/index.js';

/** An option that the dialect does not have. */
export function refuseOthers(name: string, rest: object): void {
  const [other] = Object.keys(rest);
  if (other !== undefined) {
    throw new LockOptionsError(`Dialect "${name}" has no option "${other}".`);
  }
}

/** An option that takes some words. */
export function oneOf<Word extends string | boolean>(
  option: string,
  given: Word,
  words: readonly Word[],
): Word {
  if (words.includes(given)) return given;
  const all = words.map((word) => (typeof word === 'string' ? `'${word}'` : word)).join(', ');
  throw new LockOptionsError(`Option "${option}" of a dialect takes ${all}.`);
}

/** What stands around a name may not decide the cluster slot, nor end what a name begins. */
export function affix(option: string, given: unknown): string {
  if (typeof given === 'string' && given.length <= 256 && !/[{}\p{Cc}]/u.test(given)) return given;
  throw new LockOptionsError(
    `Option "${option}" of a dialect takes a string of up to 256 characters without braces.`,
  );
}
