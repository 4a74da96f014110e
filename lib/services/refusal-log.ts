import type { LockStoreError } from '../errors/index.js';
import { logger } from './logger.js';

/** What Redis refused for good, although nobody is left to be told by an error. */
export type RefusedStep = 'release' | 'renewal';

const CONSEQUENCES: Readonly<Record<RefusedStep, string>> = {
  release: 'A lock could not be given back, and stays taken until its lease ends',
  renewal: 'A lease could not be renewed, and ends with its ttl',
};

/** Says of each refusal once what it means; it names no lock. */
export function refusalLog(): (error: LockStoreError, step: RefusedStep) => void {
  const said = new Set<string>();
  return ({ message, key }, step) => {
    const cause = key === undefined ? message : message.replace(` for lock "${key}"`, '');
    const text = `${CONSEQUENCES[step]}. ${cause}`;
    if (said.has(text)) return;
    said.add(text);
    logger.error(text);
  };
}
