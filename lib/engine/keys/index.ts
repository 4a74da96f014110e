export { keyReader, keyTemplate, nameOfKey, type Names, type Reader } from './key-template.js';
export { encodeValue, lockKey, type LockKeyValue } from './lock-key.js';
export { describe, lockName, lockNames } from './lock-name.js';
export { type ArgumentPlace, isAuthorsName, parameterNames } from './parameter-names.js';
