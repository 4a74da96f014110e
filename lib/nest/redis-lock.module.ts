import {
  type DynamicModule,
  type FactoryProvider,
  Inject,
  Module,
  type OnApplicationShutdown,
  type OnModuleDestroy,
  type OnModuleInit,
  Optional,
  type Provider,
} from '@nestjs/common';
import {
  ApplicationConfig,
  DiscoveryModule,
  DiscoveryService,
  HttpAdapterHost,
  LazyModuleLoader,
  MetadataScanner,
  ModulesContainer,
} from '@nestjs/core';
import { afterLoads, supplyService } from './decorators/injected-service.js';
import { watchSubclasses } from './decorators/locked-request.decorator.js';
import { checkDecorators } from './decorators/start-up-checks.js';
import { LockOptionsError } from '../engine/errors/index.js';
import { LockErrorFilter } from './interceptors/lock-error.filter.js';
import { answerErrors, LockErrorInterceptor } from './interceptors/lock-error.interceptor.js';
import { RedisLockStore } from '../engine/locks/lock/redis-lock-store.js';
import { QuorumLockStore } from '../engine/locks/quorum/quorum-lock-store.js';
import {
  bareDuration,
  moduleSettings,
  type ModuleSettings,
  type RedisLockOptions,
  systemClock,
  topologyOf,
} from '../engine/options/index.js';
import {
  ConfigurableModuleClass,
  MODULE_OPTIONS_TOKEN,
  type RedisLockModuleAsyncOptions,
  type RedisLockModuleExtras,
  type RedisLockModuleOptions,
} from './redis-lock.module-definition.js';
import { Candidates } from './services/candidate.js';
import { LockService } from './services/lock.service.js';
import { lockServiceToken } from './services/lock-service-token.js';
import { outageLog } from './services/log.js';
import { logger } from './services/logger.js';
import { ShutdownHooksCheck } from './services/shutdown-hooks-check.js';
import { publisherFor } from './services/operator-log.js';

/** Provided by `forRoot` and `forRootAsync` alone: its absence shows that `RedisLockModule` was imported bare. */
interface Configured {
  readonly name: string | undefined;
  readonly locks: LockService;
}
const CONFIGURED = Symbol('nest-redis-lock:configured');
const CANDIDATES = Symbol('nest-redis-lock:candidates');
const ERROR_ANSWERS = Symbol('nest-redis-lock:error-answers');

/**
 * The module of distributed locks on Redis: provides `LockService` to the application and its decorators. The module connects
 * at start-up, which fails if Redis cannot be used. A shutdown releases all leases and closes the module's own connections.
 * @example `@Module({ imports: [RedisLockModule.forRoot({ redis: process.env.REDIS_URL })] })`
 * @publicApi
 */
@Module({ imports: [DiscoveryModule] })
export class RedisLockModule implements OnModuleInit {
  readonly #name: string | undefined;
  readonly #locks: LockService;
  readonly #candidates: Candidates;
  readonly #modules: ModulesContainer;
  readonly #discovery: DiscoveryService;
  readonly #scanner: MetadataScanner;

  /** @internal */
  constructor(
    @Optional() @Inject(CONFIGURED) configured: Configured | undefined,
    modules: ModulesContainer,
    discovery: DiscoveryService,
    scanner: MetadataScanner,
    loader: LazyModuleLoader,
  ) {
    if (!configured) {
      throw new LockOptionsError(
        'RedisLockModule stands among the imports as it is, without options: write RedisLockModule.forRoot() or forRootAsync(). ' +
          'One such import serves all modules; with "isGlobal: false" keep what it returns, and import that everywhere.',
      );
    }
    this.#modules = modules;
    this.#discovery = discovery;
    this.#scanner = scanner;
    this.#name = configured.name;
    this.#locks = configured.locks;
    this.#candidates = Candidates.of(configured.locks);
    watchSubclasses(discovery);
    const supply = (): void => supplyService(modules, this.#name, this.#locks);
    this.#hear({
      onModuleInit: () => {
        supply();
        afterLoads(loader, supply);
      },
    });
    if (LockService.isGenuine(this.#locks)) this.#hearClose();
  }

  /** @throws LockOptionsError when an option is wrong. */
  static forRoot(options: RedisLockModuleOptions = {}): DynamicModule {
    const { name, isGlobal, mapErrors, ...rest } = options;
    moduleSettings(rest);
    return RedisLockModule.forRootAsync({ name, isGlobal, mapErrors, useFactory: () => rest });
  }

  /** As {@link forRoot}, with options from `useFactory`, `useClass` or `useExisting`. Wrong options fail the start-up. */
  static forRootAsync(options: RedisLockModuleAsyncOptions): DynamicModule {
    const { name, isGlobal, mapErrors, ...rest } = options;
    return withLocks(ConfigurableModuleClass.forRootAsync(rest), { name, isGlobal, mapErrors });
  }

  /** Called by Nest: checks the decorators of the whole application, and collects the elections that `@LeaderOnly` names. */
  onModuleInit(): void {
    const all = [...this.#modules.values()]
      .map(({ instance }) => instance as unknown)
      .filter((instance) => instance instanceof RedisLockModule);
    const byName = new Map(all.map((each) => [each.#name, each]));
    if (all.filter((each) => each.#name === this.#name).length > 1) {
      const named = this.#name === undefined ? 'without a name' : `named "${this.#name}"`;
      throw new LockOptionsError(
        `RedisLockModule is imported twice ${named}: give each its own "name", or import one of them everywhere.`,
      );
    }
    if (all[0] !== this) return;
    const services = new Map(all.map((each) => [each.#name, each.#locks]));
    const leaders = checkDecorators(this.#discovery, this.#scanner, services);
    for (const { module, election, ttl } of leaders) {
      byName.get(module)!.#candidates.get(election, { ttl });
    }
  }

  /**
   * Closes also a lazily loaded module, whose hooks Nest never calls. A module that Nest has closed before is not closed twice:
   * the hooks are idempotent.
   */
  #hearClose(): void {
    this.#hear({
      onModuleDestroy: () => {
        this.#candidates.onModuleDestroy();
        this.#locks.onModuleDestroy();
      },
      onApplicationShutdown: () => this.#locks.onApplicationShutdown(),
    });
  }

  /** Hears hooks through a provider of the application's first module: at the start Nest calls these before all others. */
  #hear(hooks: Partial<OnModuleInit & OnModuleDestroy & OnApplicationShutdown>): void {
    const [first] = this.#modules.values();
    first!.addProvider({ provide: Symbol('nest-redis-lock:hooks'), useValue: hooks });
  }
}

/** Returns the options. They hold passwords, so an inspection of Nest's container must find a function instead. */
type KeptOptions = () => RedisLockOptions;

function outOfSight(provider: Provider): Provider {
  if (typeof provider === 'function' || provider.provide !== MODULE_OPTIONS_TOKEN) return provider;
  const { useFactory, ...rest } = provider as FactoryProvider<RedisLockOptions>;
  const kept = async (...given: unknown[]): Promise<KeptOptions> => {
    const options = await useFactory(...given);
    return () => options;
  };
  return { ...rest, useFactory: kept };
}

function withLocks(definition: DynamicModule, extras: RedisLockModuleExtras): DynamicModule {
  const { name, isGlobal = true, mapErrors = true } = extras;
  const service = {
    provide: lockServiceToken(name),
    inject: [MODULE_OPTIONS_TOKEN],
    useFactory: (options: KeptOptions) => lockService(options(), name),
  };
  const candidates = {
    provide: CANDIDATES,
    inject: [service.provide],
    useFactory: (locks: LockService) => Candidates.of(locks),
  };
  const providers: Provider[] = [
    {
      provide: CONFIGURED,
      inject: [service.provide],
      useFactory: (locks: LockService): Configured => ({ name, locks }),
    },
    service,
    candidates,
    {
      provide: ShutdownHooksCheck,
      inject: [HttpAdapterHost, MODULE_OPTIONS_TOKEN],
      useFactory: (host: HttpAdapterHost, options: KeptOptions) => {
        const { inMemory, call } = moduleSettings(options());
        return new ShutdownHooksCheck(host, inMemory ? 0 : call.ttl);
      },
    },
    LockErrorFilter,
  ];
  if (mapErrors) {
    providers.push(LockErrorInterceptor, {
      provide: ERROR_ANSWERS,
      inject: [ApplicationConfig, LockErrorFilter, LockErrorInterceptor, service.provide],
      useFactory: answerErrors,
    });
  }
  return {
    ...definition,
    module: RedisLockModule,
    global: isGlobal,
    providers: [...(definition.providers ?? []).map(outOfSight), ...providers],
    exports: [service.provide],
  };
}

function lockService(
  options: RedisLockOptions,
  name: string | undefined,
): LockService | Promise<LockService> {
  const settings = moduleSettings(options);
  const bare = bareDuration(options);
  if (bare) logger.warn(`RedisLockModule ${bare}`);
  if (settings.inMemory) return lockServiceInMemory(options, settings, name);
  const Store = settings.nodes ? QuorumLockStore : RedisLockStore;
  const publisher = publisherFor(topologyOf(settings), name, systemClock);
  return LockService.on(
    new Store(settings, systemClock, outageLog(publisher)),
    settings,
    systemClock,
    publisher,
  );
}

/** Makes a service in memory, whose code is loaded only here: an application on Redis does not pay for it. */
async function lockServiceInMemory(
  { redis }: RedisLockOptions,
  settings: ModuleSettings,
  name: string | undefined,
): Promise<LockService> {
  const { MemoryLockStore, serverOfProcess } = await import('../memory/memory-lock-store.js');
  if (redis === 'memory:') {
    logger.warn(
      'Locks are in the memory of this process (option "redis"): no other process sees them. Give the URL of a Redis before there is a second one.',
    );
  }
  const store = new MemoryLockStore(serverOfProcess(), settings, systemClock);
  return LockService.on(store, settings, systemClock, publisherFor('memory', name, systemClock));
}
