/**
 * The module, the decorators, the service, leases, guards and errors.
 *
 * @module nest-redis-lock
 */

export { RedisLockModule } from './redis-lock.module.js';
export type {
  RedisLockModuleAsyncOptions,
  RedisLockModuleExtras,
  RedisLockModuleOptions,
  RedisLockOptionsFactory,
} from './redis-lock.module-definition.js';
export { Locked } from './decorators/locked.decorator.js';
export type {
  BusyFits,
  Lockable,
  LockedDecorator,
  LockedKey,
  ResultKind,
  Skippable,
  TakesArgs,
} from './decorators/locked-types.js';
export { CurrentLease, LockKey } from './decorators/parameters.js';
export { LockedRequest } from './decorators/locked-request.decorator.js';
export { LeaderOnly, type LeaderOnlyOptions } from './decorators/leader-only.decorator.js';
export { InjectLockService } from './decorators/injected-service.js';
export { LockInterceptor } from './interceptors/lock.interceptor.js';
export { LockErrorFilter } from './interceptors/lock-error.filter.js';
export type { LockedRequestOptions, RequestKey } from './interceptors/locked-request-settings.js';
export { LockService } from './services/lock.service.js';
export { lockServiceToken } from './services/lock-service-token.js';
export {
  Election,
  type ElectionEvents,
  type ElectionOptions,
  type Leader,
} from './services/election.js';
export { type AwaitOptions, Condition } from './services/condition.js';
export {
  type PermitAcquireOptions,
  Semaphore,
  type SemaphoreOptions,
  type WithPermitOptions,
} from './services/semaphore.js';
export type { HealthOptions, LockHealth } from './services/health.js';
export type { ServerHealth } from './locks/lock-store.js';
export type {
  ListOptions,
  LockInspection,
  LockParty,
  InspectOptions,
} from './services/inspection.js';
export { Lease, type LeaseJson } from './client/lease.js';
export type { Work } from './client/run-under-lease.js';
export type { Stamp } from './client/stamp.js';
export { lockKey, type LockKeyValue } from './keys/index.js';
export type {
  AcquireOptions,
  BusyContext,
  Clock,
  DialectChoice,
  Duration,
  LockCallOptions,
  LockDialect,
  LockedOptions,
  LockedPolicy,
  LockLimits,
  ModeOptions,
  NameOptions,
  PermitOptions,
  LaravelDialect,
  PlainDialect,
  PlainPreset,
  PythonRedisLockDialect,
  RedisLockOptions,
  RedisClusterOptions,
  RedissonDialect,
  ReplicaOptions,
  RedisSource,
  SpringDialect,
  SymfonyDialect,
  TimestampDialect,
  WithLockOptions,
} from './options/index.js';
export {
  type FencedRedis,
  fencedRedis,
  type FencedRedisClient,
  type FencedRedisOptions,
  type RedisOperand,
} from './fencing/fenced-redis.js';
export {
  type FencedSql,
  fencedSql,
  type FencedSqlOptions,
  type SqlQuotes,
} from './fencing/fenced-sql.js';
export type { FencingTokenSource } from './fencing/fencing-token.js';
export {
  type AcquiredEvent,
  type AcquireFailedEvent,
  type AcquireOutcome,
  type AcquireTrace,
  type Around,
  type ConnectedEvent,
  type ContendedEvent,
  type DeposedEvent,
  type DisconnectedEvent,
  type ElectedEvent,
  type HandedOffEvent,
  type HoldEnd,
  type HoldTrace,
  type LockChannel,
  lockChannels,
  type LockChannels,
  type LockEventMap,
  type LockEventName,
  type LockEvents,
  type LockSubject,
  type LockTopology,
  type LockTracingChannel,
  type LostEvent,
  type NotAcquiredEvent,
  type RefusedEvent,
  type ReleasedEvent,
  type RenewalFailedEvent,
  type ReplacedEvent,
  type SkippedEvent,
} from './events/index.js';
export * from './errors/index.js';
