/**
 * The module, the decorators, the service, leases, guards and errors.
 *
 * @module nest-redis-lock
 */

export { RedisLockModule } from './nest/redis-lock.module.js';
export type {
  RedisLockModuleAsyncOptions,
  RedisLockModuleExtras,
  RedisLockModuleOptions,
  RedisLockOptionsFactory,
} from './nest/redis-lock.module-definition.js';
export { Locked } from './nest/decorators/locked.decorator.js';
export type {
  BusyFits,
  Lockable,
  LockedDecorator,
  LockedKey,
  ResultKind,
  Skippable,
  TakesArgs,
} from './nest/decorators/locked-types.js';
export { CurrentLease, LockKey } from './nest/decorators/parameters.js';
export { LockedRequest } from './nest/decorators/locked-request.decorator.js';
export { LeaderOnly, type LeaderOnlyOptions } from './nest/decorators/leader-only.decorator.js';
export { InjectLockService } from './nest/decorators/injected-service.js';
export { LockInterceptor } from './nest/interceptors/lock.interceptor.js';
export { LockErrorFilter } from './nest/interceptors/lock-error.filter.js';
export type {
  LockedRequestOptions,
  RequestKey,
} from './nest/interceptors/locked-request-settings.js';
export { LockService } from './nest/services/lock.service.js';
export { lockServiceToken } from './nest/services/lock-service-token.js';
export {
  Election,
  type ElectionEvents,
  type ElectionOptions,
  type Leader,
} from './nest/services/election.js';
export { type AwaitOptions, Condition } from './nest/services/condition.js';
export {
  type PermitAcquireOptions,
  Semaphore,
  type SemaphoreOptions,
  type WithPermitOptions,
} from './nest/services/semaphore.js';
export type { HealthOptions, LockHealth } from './engine/inspection/health.js';
export type { ServerHealth } from './engine/locks/lock-store.js';
export type {
  ListOptions,
  LockInspection,
  LockParty,
  InspectOptions,
} from './engine/inspection/inspection.js';
export { Lease, type LeaseJson } from './engine/client/leases/lease.js';
export type { Work } from './nest/services/run-under-lease.js';
export type { Stamp } from './engine/locks/stamp.js';
export { lockKey, type LockKeyValue } from './engine/keys/index.js';
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
} from './engine/options/index.js';
export {
  type FencedRedis,
  fencedRedis,
  type FencedRedisClient,
  type FencedRedisOptions,
  type RedisOperand,
} from './engine/fencing/fenced-redis.js';
export {
  type FencedSql,
  fencedSql,
  type FencedSqlOptions,
  type SqlQuotes,
} from './engine/fencing/fenced-sql.js';
export type { FencingTokenSource } from './engine/fencing/fencing-token.js';
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
} from './engine/events/index.js';
export * from './engine/errors/index.js';
