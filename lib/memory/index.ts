export { MemoryLockServer } from './memory-lock-server.js';
export { MemoryServer } from './memory-server.js';
