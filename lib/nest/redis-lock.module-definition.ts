import { type ConfigurableModuleAsyncOptions, ConfigurableModuleBuilder } from '@nestjs/common';
import type { RedisLockOptions } from '../engine/options/index.js';

/** Options of the module itself, given beside `forRoot` and `forRootAsync`. */
export interface RedisLockModuleExtras {
  /**
   * The name of a second module: `@InjectLockService(name)`, `@Locked(key, { module: name })`.
   *
   * Default: none.
   */
  readonly name?: string | undefined;
  /** Provides `LockService` to all modules. @default true */
  readonly isGlobal?: boolean | undefined;
  /**
   * Answers requests that end in an error of this library.
   *
   * On HTTP: 409 (a lock is busy), 429 (a semaphore is busy), 503, 400 and 500. GraphQL, microservices and gateways answer
   * with the same `code`. No answer contains a key. A filter of the application that catches the error decides instead, and
   * gets an `HttpException`.
   * @default true
   * @see Answers requests in docs/errors.md#what-clients-get
   */
  readonly mapErrors?: boolean | undefined;
}

/** Creates the options of a module, for `forRootAsync({ useClass })`. */
export interface RedisLockOptionsFactory {
  createRedisLockOptions(): RedisLockOptions | Promise<RedisLockOptions>;
}

/** The options of `RedisLockModule.forRoot`. */
export type RedisLockModuleOptions = RedisLockOptions & RedisLockModuleExtras;

/** The options of `RedisLockModule.forRootAsync`: `useFactory`, `useClass` or `useExisting`, and {@link RedisLockModuleExtras}. */
export type RedisLockModuleAsyncOptions = ConfigurableModuleAsyncOptions<
  RedisLockOptions,
  'createRedisLockOptions'
> &
  RedisLockModuleExtras;

export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } =
  new ConfigurableModuleBuilder<RedisLockOptions>({ moduleName: 'RedisLock' })
    .setClassMethodName('forRoot')
    .setFactoryMethodName('createRedisLockOptions')
    .build();
