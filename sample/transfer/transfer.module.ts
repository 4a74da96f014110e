import { type DynamicModule, Module } from '@nestjs/common';
import { RedisLockModule } from 'nest-redis-lock';
import { RedisModule } from '../redis/redis.module.js';
import { TransferService } from './transfer.service.js';

@Module({ providers: [TransferService] })
export class TransferModule {
  static connectedTo(redis: string): DynamicModule {
    return {
      module: TransferModule,
      imports: [
        RedisLockModule.forRoot({ redis, keyPrefix: 'bank-demo:lock:' }),
        RedisModule.connectedTo(redis),
      ],
    };
  }
}
