export { ManualClock } from './manual-clock.js';
export { MemoryLockStore } from './memory-lock-store.js';
export { MemoryServer } from './memory-server.js';
export {
  LockTestingModule,
  type LockTestingOptions,
  memoryLockService,
} from './lock-testing.module.js';
