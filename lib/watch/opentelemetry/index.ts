export { type InstrumentLocksOptions, instrumentLocks } from './instrument-locks.js';
export { LockInstrumentation, type LockInstrumentationConfig } from './lock-instrumentation.js';
