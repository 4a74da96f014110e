import { type DynamicModule, Module } from '@nestjs/common';
import { RedisLockModule } from 'nest-redis-lock';
import { RedisModule } from '../redis/redis.module.js';
import { Database } from './database.js';
import { StockService } from './stock.service.js';

@Module({ providers: [Database, StockService] })
export class TransactionModule {
  static connectedTo(redis: string): DynamicModule {
    return {
      module: TransactionModule,
      imports: [
        RedisLockModule.forRoot({ redis, keyPrefix: 'bank-demo:lock:' }),
        RedisModule.connectedTo(redis),
      ],
    };
  }
}
