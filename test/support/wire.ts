import { exclusive as scripts } from '../../lib/locks/native-scripts.js';

/** Whether a command, as it goes over the wire, is one step of the lock: by the script's hash, or its text. */
export function isStep(step: keyof typeof scripts): (words: readonly string[]) => boolean {
  return ([, script]) => script === scripts[step].sha || script === scripts[step].source;
}
