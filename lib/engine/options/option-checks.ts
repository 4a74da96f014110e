import { LockOptionsError } from '../errors/index.js';

/** An option that takes some words; `option` is how messages name it. */
export function oneOf<Word extends string | boolean>(
  option: string,
  given: Word,
  words: readonly Word[],
): Word {
  if (words.includes(given)) return given;
  const said = words.map((word) => (typeof word === 'string' ? `'${word}'` : word));
  const last = said.pop();
  const all = said.length > 0 ? `${said.join(', ')} or ${last}` : last;
  throw new LockOptionsError(`Option ${option} takes ${all}.`);
}

/** What stands around a name may not decide the cluster slot, nor end what a name begins. */
export function affix(option: string, given: unknown): string {
  if (typeof given === 'string' && given.length <= 256 && !/[{}\p{Cc}]/u.test(given)) return given;
  throw new LockOptionsError(
    `Option ${option} takes a string of up to 256 characters without braces.`,
  );
}

/** @throws LockOptionsError for an option that nothing here takes; one that is undefined is not given. */
export function refuseOthers(
  others: object,
  refusal = (other: string): string => `There is no option "${other}" here.`,
): void {
  const [other] = Object.entries(others).find(([, value]) => value !== undefined) ?? [];
  if (other !== undefined) throw new LockOptionsError(refusal(other));
}
