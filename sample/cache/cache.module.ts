import { type DynamicModule, Module } from '@nestjs/common';
import { RedisLockModule } from 'nest-redis-lock';
import { RedisModule } from '../redis/redis.module.js';
import { PriceList } from './price-list.js';

@Module({ providers: [PriceList] })
export class CacheModule {
  static connectedTo(redis: string): DynamicModule {
    return {
      module: CacheModule,
      imports: [
        RedisLockModule.forRoot({ redis, keyPrefix: 'bank-demo:lock:' }),
        RedisModule.connectedTo(redis),
      ],
    };
  }
}
