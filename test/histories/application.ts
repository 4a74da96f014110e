import { Logger, Module } from '@nestjs/common';
import { type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Publisher } from '../../lib/engine/events/index.js';
import type { LockStore } from '../../lib/engine/locks/lock-store.js';
import { RedisLockStore } from '../../lib/engine/locks/lock/redis-lock-store.js';
import { QuorumLockStore } from '../../lib/engine/locks/quorum/quorum-lock-store.js';
import {
  type Clock,
  moduleSettings,
  type RedisLockOptions,
} from '../../lib/engine/options/index.js';
import { LockService } from '../../lib/nest/services/lock.service.js';

Logger.overrideLogger(false);

/** A Nest application with a lock service whose steps somebody watches. */
export class Application {
  private constructor(
    readonly locks: LockService,
    readonly store: LockStore,
    readonly clock: Clock,
    private readonly nest: INestApplicationContext,
  ) {}

  static async start(
    options: RedisLockOptions,
    clock: Clock,
    watch: (store: LockStore) => LockStore,
  ): Promise<Application> {
    const settings = moduleSettings({ ...options, lazyConnect: true });
    const Store = settings.nodes ? QuorumLockStore : RedisLockStore;
    const store = watch(new Store(settings, clock));
    const topology = settings.nodes ? 'quorum' : 'redis';
    const publisher = new Publisher({ topology, module: undefined }, clock);
    const locks = LockService.on(store, settings, clock, publisher);

    @Module({ providers: [{ provide: LockService, useValue: locks }] })
    class App {}

    const nest = await NestFactory.createApplicationContext(App, { logger: false });
    return new Application(locks, store, clock, nest);
  }

  /** As at the end of a process: what runs under locks may go on for `shutdownGrace`. */
  close(): Promise<void> {
    return this.nest.close();
  }
}
