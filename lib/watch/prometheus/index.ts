export { type LockMetricsOptions, registerLockMetrics } from './register-lock-metrics.js';
