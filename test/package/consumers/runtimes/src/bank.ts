import { Controller, Get, Injectable, Module, Param } from '@nestjs/common';
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import {
  CurrentLease,
  type Lease,
  Locked,
  lockKey,
  LockService,
  RedisLockModule,
} from 'nest-redis-lock';
import { LockBoardModule } from 'nest-redis-lock/board';
import { LockHealthIndicator } from 'nest-redis-lock/terminus';
import { setTimeout as sleep } from 'node:timers/promises';

@Injectable()
export class Bank {
  constructor(private readonly locks: LockService) {}

  @Locked('account:<id>', { ttl: '5s' })
  async withdraw(id: string, amount: number, @CurrentLease() lease?: Lease): Promise<string> {
    const { holder } = await this.locks.inspect(lockKey`account:${id}`);
    return `${amount} from ${lease?.key} by ${holder?.pid === process.pid ? 'this process' : 'nobody'}`;
  }

  @Locked('outer')
  async nested(): Promise<(string | undefined)[]> {
    await sleep(1);
    const key = (): string | undefined => this.locks.current()?.key;
    const inside = await Promise.all([
      this.locks.withLock('outer', async () => key()), // again, without waiting
      this.locks.withLock('inner', async () => {
        await new Promise((resolve) => setImmediate(resolve));
        return key();
      }),
      new Promise<string | undefined>((resolve) => setTimeout(() => resolve(key()), 1)),
    ]);
    return [...inside, key()];
  }

  key(): string | undefined {
    return this.locks.current()?.key;
  }
}

@Controller()
export class Routes {
  constructor(
    private readonly health: HealthCheckService,
    private readonly locks: LockHealthIndicator,
  ) {}

  @Get('accounts/:id')
  @Locked('account:<id>')
  async balance(@Param('id') id: string): Promise<string> {
    return `balance of ${id}`;
  }

  @Get('health')
  @HealthCheck()
  ready() {
    return this.health.check([() => this.locks.isHealthy('locks')]);
  }
}

/** Far beyond what a busy machine takes. */
const patient = { wait: '60s', connectTimeout: '60s', commandTimeout: '30s' } as const;
const redis = process.env.REDIS_URL;

@Module({
  imports: [
    RedisLockModule.forRoot({ redis, ...patient }),
    RedisLockModule.forRoot({ name: 'other', redis, ...patient }), // as another process would be
    LockBoardModule.forRoot({ open: true }),
    TerminusModule,
  ],
  controllers: [Routes],
  providers: [Bank, LockHealthIndicator],
})
export class AppModule {}
