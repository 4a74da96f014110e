export { bareDuration, type Duration, milliseconds } from './duration.js';
export { type Clock, type Moment, momentOf, partedSince, systemClock } from './clock.js';
export {
  isReader,
  MODE_DEFAULTS,
  type ModeOptions,
  MOST_PERMITS,
  type PermitOptions,
  permitsOf,
  READER,
  type Share,
  shareOf,
  wholeNumber,
} from './share.js';
export { type DialectAbilities, type DialectSettings, dialectSettings } from './dialect.js';
export { checkStore } from './dialect-store.js';
export type {
  DialectChoice,
  LockDialect,
  LaravelDialect,
  PlainDialect,
  PythonRedisLockDialect,
  RedissonDialect,
  SpringDialect,
  SymfonyDialect,
  TimestampDialect,
} from './dialect-choice.js';
export { type PlainPreset, PRESETS } from './dialect-presets.js';
export { onAbort } from './on-abort.js';
export { detached } from './detached.js';
export {
  type AcquireOptions,
  type CallSettings,
  CALL_DEFAULTS,
  callSettings,
  type LockCallOptions,
  TTL_BOUNDS,
} from './call-options.js';
export { type LockLimits } from './limits.js';
export {
  MODULE_DEFAULTS,
  type ModuleSettings,
  moduleSettings,
  type RedisLockOptions,
} from './module-options.js';
export {
  type CheckedSource,
  DEFAULT_SOURCE,
  nodeOptions,
  type RedisClusterOptions,
  redisSource,
  type RedisSource,
} from './redis-source.js';
export { type ReplicaOptions, type ReplicaSettings } from './replica-options.js';
export {
  type BusyContext,
  checkPolicy,
  type LockedOptions,
  type LockedPolicy,
  POLICY_DEFAULTS,
  POLICY_OPTIONS,
} from './locked-options.js';
