import { type ConfigurableModuleAsyncOptions, ConfigurableModuleBuilder } from '@nestjs/common';
import type { RedisLockOptions } from './options/index.js';

/** What is said where the module stands, also with `forRootAsync`. */
export interface RedisLockModuleExtras {
  /** For several modules in one application: `@InjectLockService('billing')`, `@Locked(key, { module: 'billing' })`. */
  readonly name?: string | undefined;
  /** @default true */
  readonly isGlobal?: boolean | undefined;
  /**
   * Answer requests that end in an error of this library: on HTTP 409 (a lock is busy), 429 (a semaphore is), 503, 400 and
   * 500; GraphQL, microservices and gateways tell the same `code`. No answer has a key in it. A filter of the application
   * that catches the error decides instead: it sees an `HttpException`. @default true
   */
  readonly mapErrors?: boolean | undefined;
}

/** Makes the options of a module, for `forRootAsync({ useClass })`. */
export interface RedisLockOptionsFactory {
  createRedisLockOptions(): RedisLockOptions | Promise<RedisLockOptions>;
}

/** What `RedisLockModule.forRoot` takes. */
export type RedisLockModuleOptions = RedisLockOptions & RedisLockModuleExtras;

/** What `RedisLockModule.forRootAsync` takes: `useFactory`, `useClass` or `useExisting`, and {@link RedisLockModuleExtras}. */
export type RedisLockModuleAsyncOptions = ConfigurableModuleAsyncOptions<
  RedisLockOptions,
  'createRedisLockOptions'
> &
  RedisLockModuleExtras;

const EXTRAS: RedisLockModuleExtras = { name: undefined, isGlobal: true, mapErrors: true };

export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } =
  new ConfigurableModuleBuilder<RedisLockOptions>({ moduleName: 'RedisLock' })
    .setClassMethodName('forRoot')
    .setFactoryMethodName('createRedisLockOptions')
    .setExtras<RedisLockModuleExtras>(EXTRAS)
    .build();
