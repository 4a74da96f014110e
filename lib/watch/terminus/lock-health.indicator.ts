import { Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { LockOptionsError } from '../../engine/errors/index.js';
import type { HealthOptions } from '../../engine/inspection/health.js';
import type { LockService } from '../../nest/services/lock.service.js';
import { lockServiceToken } from '../../nest/services/lock-service-token.js';

/** The options of `LockHealthIndicator.isHealthy`. */
export interface LockHealthIndicatorOptions extends HealthOptions {
  /** The `name` of the module to check. Default: the module without a name. */
  readonly module?: string | undefined;
}

/** The result builder of Terminus. */
interface Session<Key extends string> {
  up(data: object): HealthIndicatorResult<Key>;
  /** Since Terminus 12. */
  degraded?(data: object): HealthIndicatorResult<Key>;
  down(data: object): HealthIndicatorResult<Key>;
}

/**
 * A health indicator for Terminus. Provide it in a module that imports `TerminusModule`.
 * @example `this.health.check([() => this.locks.isHealthy('locks')])`
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
   * Reports `up` while a lock would be granted, else `down`; and `degraded` for other problems, which Terminus 11 calls `up`.
   * The result has the rest of `LockHealth`: it names hosts and ports, and no key. Answers within `timeout`, 300 ms by default.
   * @throws LockOptionsError for a wrong option, or if no such module is imported.
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
