import { Controller, Get, Injectable, Module, Param } from '@nestjs/common';
import {
  CurrentLease,
  type Lease,
  Locked,
  lockKey,
  LockService,
  RedisLockModule,
} from 'nest-redis-lock';

@Injectable()
export class Bank {
  constructor(private readonly locks: LockService) {}

  @Locked('account:<id>', { ttl: '5s' })
  async withdraw(id: string, amount: number, @CurrentLease() lease?: Lease): Promise<string> {
    const { holder } = await this.locks.inspect(lockKey`account:${id}`);
    return `${amount} from ${lease?.key} by ${holder?.pid === process.pid ? 'this process' : 'nobody'}`;
  }

  async audit(): Promise<boolean> {
    const lease = await this.locks.acquire('audit');
    const second = (await this.locks.tryAcquire('other'))!;
    return lease.held && (await second.release()) && (await lease.release());
  }
}

@Controller('accounts')
export class AccountsController {
  @Get(':id')
  @Locked('account:<id>')
  async balance(@Param('id') id: string): Promise<string> {
    return `balance of ${id}`;
  }
}

@Module({
  imports: [RedisLockModule.forRoot({ redis: process.env.REDIS_URL })],
  controllers: [AccountsController],
  providers: [Bank],
})
export class AppModule {}
