export { MemoryLockServer } from './memory-lock-server.js';
export { MemoryLockStore, serverOfProcess } from './memory-lock-store.js';
export { MemoryServer } from './memory-server.js';
