// Routes of Terminus that check the locks of an application.
import { Controller, Get } from '@nestjs/common';
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { LockHealthIndicator } from 'nest-redis-lock/terminus';

@Controller('health')
class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly locks: LockHealthIndicator,
  ) {}

  @Get()
  @HealthCheck()
  ready() {
    return this.health.check([() => this.locks.isHealthy('locks', { timeout: '1s' })]);
  }

  @Get('billing')
  @HealthCheck()
  billing() {
    return this.health.check([() => this.locks.isHealthy('billing', { module: 'billing' })]);
  }
}
/** What an application has for them. */
export const parts = {
  imports: [TerminusModule.forRoot({ logger: false })],
  controllers: [HealthController],
  providers: [LockHealthIndicator],
};
