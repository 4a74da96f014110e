/**
 * Locks in memory, and a clock that a test moves.
 *
 * @module nest-redis-lock/testing
 */

export type { Clock } from '../../engine/options/index.js';
export { ManualClock } from './manual-clock.js';
export { MemoryServer } from '../index.js';
export {
  LockTestingModule,
  type LockTestingOptions,
  memoryLockService,
} from './lock-testing.module.js';
