export { encodeValue } from './encode-value.js';
export { lockKey, type LockKeyValue } from './lock-key.js';
export { describe, lockName } from './lock-name.js';
