import { type DynamicModule, Module } from '@nestjs/common';
import { RedisLockModule } from 'nest-redis-lock';
import { RedisModule } from '../redis/redis.module.js';
import { CardsController } from './cards.controller.js';

/** The microservice: it has the locks. */
@Module({ controllers: [CardsController] })
export class CardsModule {
  static connectedTo(redis: string): DynamicModule {
    return {
      module: CardsModule,
      imports: [
        RedisLockModule.forRoot({ redis, keyPrefix: 'bank-demo:lock:' }),
        RedisModule.connectedTo(redis),
      ],
    };
  }
}
