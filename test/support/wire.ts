import { exclusive as scripts } from '../../lib/engine/locks/native-scripts.js';

type Step = 'acquire' | 'release' | 'extend';

/** The scripts that take a step: the short one of a lock that nobody else wants, and the full one. */
const WAYS = {
  acquire: [scripts.acquireFree, scripts.acquire],
  release: [scripts.releaseFree, scripts.release],
  extend: [scripts.extend],
} as const;

export const isAcquire = isStep('acquire');
export const isExtend = isStep('extend');
export const isRelease = isStep('release');

/** Whether a command, as it goes over the wire, is one step of the lock: by the script's hash, or its text. */
function isStep(step: Step): (words: readonly string[]) => boolean {
  return ([, script]) => WAYS[step].some(({ sha, source }) => script === sha || script === source);
}
