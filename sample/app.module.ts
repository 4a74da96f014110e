import { type DynamicModule, Module } from '@nestjs/common';
import { RedisLockModule } from 'nest-redis-lock';
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
        RedisModule.connectedTo(redis),
        AccountsModule,
        OperationsModule,
      ],
    };
  }
}
