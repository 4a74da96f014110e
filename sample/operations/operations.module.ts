import { Module, type OnApplicationShutdown } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { registerLockMetrics } from 'nest-redis-lock/prometheus';
import { LockHealthIndicator } from 'nest-redis-lock/terminus';
import { Registry } from 'prom-client';
import { HealthController } from './health.controller.js';
import { MetricsController } from './metrics.controller.js';

/** What those look at who run the bank. The default registry of prom-client, `register`, does as well. */
@Module({
  imports: [TerminusModule],
  controllers: [HealthController, MetricsController],
  providers: [LockHealthIndicator, { provide: Registry, useFactory: () => new Registry() }],
})
export class OperationsModule implements OnApplicationShutdown {
  readonly #stopMetrics: () => void;

  constructor(registry: Registry) {
    this.#stopMetrics = registerLockMetrics(registry);
  }

  onApplicationShutdown(): void {
    this.#stopMetrics();
  }
}
