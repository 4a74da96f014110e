import { type DynamicModule, Module } from '@nestjs/common';
import { RedisLockModule } from 'nest-redis-lock';
import { RedisModule } from '../redis/redis.module.js';
import { BoxesGateway } from './boxes.gateway.js';

@Module({ providers: [BoxesGateway] })
export class BoxesModule {
  static connectedTo(redis: string): DynamicModule {
    return {
      module: BoxesModule,
      imports: [
        RedisLockModule.forRoot({ redis, keyPrefix: 'bank-demo:lock:' }),
        RedisModule.connectedTo(redis),
      ],
    };
  }
}
