import { type DynamicModule, Module } from '@nestjs/common';
import { RedisLockModule } from 'nest-redis-lock';
import { RedisModule } from '../redis/redis.module.js';
import { ClosingService } from './closing.service.js';
import { Ledger } from './ledger.js';

@Module({ providers: [ClosingService, Ledger] })
export class FencingModule {
  static connectedTo(redis: string): DynamicModule {
    return {
      module: FencingModule,
      imports: [
        RedisLockModule.forRoot({ redis, keyPrefix: 'bank-demo:lock:' }),
        RedisModule.connectedTo(redis),
      ],
    };
  }
}
