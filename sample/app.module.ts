import { type DynamicModule, Module } from '@nestjs/common';
import { RedisLockModule } from 'nest-redis-lock';
import { LockBoardModule } from 'nest-redis-lock/board';
import { AccountsModule } from './accounts/accounts.module.js';
import { OperationsModule } from './operations/operations.module.js';
import { RedisModule } from './redis/redis.module.js';

/** How long an account stays locked after its holder died, in ms. */
export const TTL = 3_000;

@Module({})
export class AppModule {
  static connectedTo(redis: string): DynamicModule {
    return {
      module: AppModule,
      imports: [
        RedisLockModule.forRoot({ redis, keyPrefix: 'bank-demo:lock:', ttl: TTL }),
        // Open, because the bank is on your own machine. In production give `guards` instead: whoever reaches an open page
        // sees which accounts are in use, and with `release` can take a lock from code that still works.
        LockBoardModule.forRoot({ open: true, release: true }),
        RedisModule.connectedTo(redis),
        AccountsModule,
        OperationsModule,
      ],
    };
  }
}
