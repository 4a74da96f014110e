import { type DynamicModule, Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { RedisLockModule } from 'nest-redis-lock';
import { FeedService } from './feed.service.js';
import { Prices } from './prices.js';

@Module({ providers: [FeedService] })
export class LeaderModule {
  static connectedTo(redis: string, prices: Prices): DynamicModule {
    return {
      module: LeaderModule,
      imports: [
        ScheduleModule.forRoot(),
        RedisLockModule.forRoot({ redis, keyPrefix: 'bank-demo:lock:' }),
      ],
      providers: [{ provide: Prices, useValue: prices }],
    };
  }
}
