import { LockOptionsError } from '../errors/index.js';

/** How many UTF-16 units a label has at most. */
export const LONGEST_LABEL = 64;

/** What a terminal or a page may obey, what makes a text look like another, and half of a surrogate pair. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** Whether a text may be a label: what stands in Redis was written by anybody. */
export function isLabel(text: unknown): text is string {
  return (
    typeof text === 'string' && text !== '' && text.length <= LONGEST_LABEL && !HIDDEN.test(text)
  );
}

/** @throws LockOptionsError for what is no label; it does not repeat it. */
export function checkedLabel(label: unknown): string {
  if (isLabel(label)) return label;
  throw new LockOptionsError(
    `Option "label" takes a text of 1 to ${LONGEST_LABEL} characters, none of them a control character.`,
  );
}

/** The label of what a decorator stands on: as much of its name as a label may have. */
export function labelOfPlace(name: string): string | undefined {
  const label = name.slice(0, LONGEST_LABEL);
  return isLabel(label) ? label : undefined;
}
