import type { DynamicModule, Provider } from '@nestjs/common';
import {
  type Clock,
  moduleSettings,
  type RedisLockOptions,
  systemClock,
} from '../../engine/options/index.js';
import { RedisLockModule } from '../../nest/redis-lock.module.js';
import type { RedisLockModuleExtras } from '../../nest/redis-lock.module-definition.js';
import { LockService } from '../../nest/services/lock.service.js';
import { ShutdownHooksCheck } from '../../nest/services/shutdown-hooks-check.js';
import { lockServiceToken } from '../../nest/services/lock-service-token.js';
import { publisherFor } from '../../nest/services/operator-log.js';
import { MemoryLockStore, MemoryServer } from '../index.js';

/** The options of `LockTestingModule`: those of `RedisLockModule`, without a Redis. */
export interface LockTestingOptions extends Omit<RedisLockOptions, 'redis' | 'lazyConnect'> {
  /** The clock for leases and waits, for example a `ManualClock`. Default: the clock of `server`, else the real one. */
  readonly clock?: Clock | undefined;
  /** The server in memory. Applications on the same server compete as replicas do. Default: a new one. */
  readonly server?: MemoryServer | undefined;
}

/**
 * Makes a `LockService` in memory, with every promise of the real one, for an application that imports `RedisLockModule`
 * itself.
 * @example `Test.createTestingModule({ imports: [AppModule] }).overrideProvider(LockService).useValue(memoryLockService())`
 * @throws LockOptionsError when an option is wrong.
 */
export function memoryLockService(options: LockTestingOptions = {}): LockService {
  return serviceOf(options, undefined);
}

function serviceOf(options: LockTestingOptions, module: string | undefined): LockService {
  const { server, clock = server?.clock ?? systemClock, ...rest } = options;
  const { lockOrder = 'warn', shutdownGrace = 0 } = rest;
  const settings = moduleSettings({ ...rest, lockOrder, shutdownGrace });
  const store = new MemoryLockStore(server ?? new MemoryServer(clock), settings, clock);
  return LockService.on(store, settings, clock, publisherFor('memory', module, clock));
}

/**
 * `RedisLockModule` without Redis, for unit tests.
 * @example `Test.createTestingModule({ imports: [LockTestingModule.forRoot()], providers: [AccountsService] })`
 */
export class LockTestingModule {
  static forRoot(options: LockTestingOptions & RedisLockModuleExtras = {}): DynamicModule {
    const { name, isGlobal, mapErrors, ...rest } = options;
    const module = RedisLockModule.forRoot({ name, isGlobal, mapErrors });
    const service: Provider = {
      provide: lockServiceToken(name),
      useFactory: () => serviceOf(rest, name),
    };
    const replaced: unknown[] = [service.provide, ShutdownHooksCheck]; // locks in memory end with their process
    const others = (module.providers ?? []).filter(
      (provider) => !('provide' in provider && replaced.includes(provider.provide)),
    );
    return { ...module, providers: [...others, service] };
  }
}
