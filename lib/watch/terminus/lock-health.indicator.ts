import { Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { LockOptionsError } from '../../engine/errors/index.js';
import type { HealthOptions } from '../../engine/inspection/health.js';
import type { LockService } from '../../nest/services/lock.service.js';
import { lockServiceToken } from '../../nest/services/lock-service-token.js';

/** The options of `LockHealthIndicator.isHealthy`. */
export interface LockHealthIndicatorOptions extends HealthOptions {
  /** The `name` of the module whose locks are looked at. Default: the module without a name. */
  readonly module?: string | undefined;
}

/** What Terminus makes results by. */
interface Session<Key extends string> {
  up(data: object): HealthIndicatorResult<Key>;
  /** From Terminus 12 on. */
  degraded?(data: object): HealthIndicatorResult<Key>;
  down(data: object): HealthIndicatorResult<Key>;
}

/**
 * A health indicator for Terminus: `() => this.locks.isHealthy('locks')` in `HealthCheckService.check`. Provide it in a module
 * that imports `TerminusModule`.
 */
@Injectable()
export class LockHealthIndicator {
  readonly #modules: ModuleRef;

  constructor(
    private readonly indicators: HealthIndicatorService,
    modules: ModuleRef,
  ) {
    this.#modules = modules;
  }

  /**
   * `up` while a lock would be granted, else `down`; where something else is wrong `degraded`, which Terminus 11 calls `up`.
   * Its data is the rest of `LockHealth`: it names hosts and ports, and no key. Answers within `timeout`, 300 ms by
   * default.
   * @throws LockOptionsError for a wrong option, or where no such module is imported.
   */
  async isHealthy<const Key extends string>(
    key: Key,
    { module, ...options }: LockHealthIndicatorOptions = {},
  ): Promise<HealthIndicatorResult<Key>> {
    const { status, ...data } = await this.#locks(module).health(options);
    const session: Session<Key> = this.indicators.check(key);
    if (status === 'down') return session.down(data);
    if (status === 'degraded' && session.degraded) return session.degraded(data);
    return session.up(data);
  }

  #locks(module: string | undefined): LockService {
    try {
      return this.#modules.get<LockService>(lockServiceToken(module), { strict: false });
    } catch {
      const named = module === undefined ? '' : ` with name: '${module}'`;
      throw new LockOptionsError(
        `LockHealthIndicator found no LockService: import RedisLockModule.forRoot()${named}.`,
      );
    }
  }
}
