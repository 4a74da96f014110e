import { LOCK_KEY_METADATA } from '../redis-lock.constants.js';
import { addParameterMetadata } from './parameter-metadata.js';

/** Names a parameter for the key of `@Locked`: a name that no minifier and no wrapper beneath takes away. */
export function LockKey(name: string): ParameterDecorator {
  return (target, method, index) =>
    addParameterMetadata(LOCK_KEY_METADATA, target, method, [name, index]);
}
