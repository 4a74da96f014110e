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

/** As for `RedisLockModule`, without a Redis. */
export interface LockTestingOptions extends Omit<RedisLockOptions, 'redis' | 'lazyConnect'> {
  /** Moves leases and waits as the test says: a `ManualClock`. Without it, the real one. */
  readonly clock?: Clock | undefined;
  /** Give the same one to several applications, and they compete as replicas do. */
  readonly server?: MemoryServer | undefined;
}

/**
 * A `LockService` that works in memory, with every promise of the real one. For an application that
 * imports `RedisLockModule` itself: `.overrideProvider(LockService).useValue(memoryLockService())`.
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

/** `RedisLockModule` without Redis, for unit tests: `imports: [LockTestingModule.forRoot()]`. */
export class LockTestingModule {
  static forRoot(options: LockTestingOptions & RedisLockModuleExtras = {}): DynamicModule {
    const { name, isGlobal, mapErrors, ...rest } = options;
    const module = RedisLockModule.forRoot({ name, isGlobal, mapErrors });
    const service: Provider = {
      provide: lockServiceToken(name),
      useFactory: () => serviceOf(rest, name),
    };
    const replaced: unknown[] = [service.provide, ShutdownHooksCheck]; // no lock in memory outlives its process
    const others = (module.providers ?? []).filter(
      (provider) => !('provide' in provider && replaced.includes(provider.provide)),
    );
    return { ...module, providers: [...others, service] };
  }
}
