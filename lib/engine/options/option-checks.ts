import { LockOptionsError } from '../errors/index.js';

/** Checks an option that takes one of some words; `option`: its name in messages. */
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

/** Checks a text around a lock's name in a Redis key. A brace in the text could make Redis Cluster take the slot from another part of the key. */
export function affix(option: string, given: unknown): string {
  if (typeof given === 'string' && given.length <= 256 && !/[{}\p{Cc}]/u.test(given)) return given;
  throw new LockOptionsError(
    `Option ${option} takes a string of up to 256 characters without braces.`,
  );
}

/** @throws LockOptionsError for an option that is unknown here; an undefined one is not given. */
export function refuseOthers(
  others: object,
  refusal = (other: string): string => `There is no option "${other}" here.`,
): void {
  const [other] = Object.entries(others).find(([, value]) => value !== undefined) ?? [];
  if (other !== undefined) throw new LockOptionsError(refusal(other));
}
