/**
 * The health of locks for `@nestjs/terminus`.
 *
 * @module nest-redis-lock/terminus
 */

export { LockHealthIndicator, type LockHealthIndicatorOptions } from './lock-health.indicator.js';
