export { encodeValue } from './encode-value.js';
export { isAuthorsName } from './kept-names.js';
export { keyTemplate, type Names, type Reader } from './key-template.js';
export { lockKey, type LockKeyValue } from './lock-key.js';
export { describe, lockName } from './lock-name.js';
export { lockNames } from './lock-names.js';
export { type ArgumentPlace, parameterNames } from './parameter-names.js';
